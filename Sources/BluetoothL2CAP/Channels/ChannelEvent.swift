/// Something that happened to a credit-based channel.
public enum ChannelEvent: Hashable, Sendable {
    /// The channel is open. `by` is the side that requested it.
    case opened(CreditBasedChannel.ID, by: ChannelOpener)
    /// A channel requested with `openChannel` or `openChannels` could not be opened. Its ID is no longer valid.
    case openingFailed(CreditBasedChannel.ID, ChannelOpeningFailure)
    /// The peer accepts longer SDUs or K-frames, or shorter ones, from now on.
    case limitsChanged(CreditBasedChannel.ID)
    /// A call to `reconfigure` has ended: successfully if the failure is nil.
    case reconfigured([CreditBasedChannel.ID], ChannelReconfigurationFailure?)
    /// The channel is closed. Its ID is no longer valid.
    case closed(CreditBasedChannel.ID, ChannelEnd)
}

/// The side that requested a channel.
public enum ChannelOpener: Hashable, Sendable {
    case thisDevice
    case peer
}

/// Why a channel could not be opened.
@nonexhaustive
public enum ChannelOpeningFailure: Error, Hashable, Sendable {
    /// The peer refused with this result.
    case refused(CreditBasedConnectionResult)
    /// The peer does not support the request, and so has no such channels.
    case notSupported
    /// The peer did not answer in time.
    case timedOut
    /// The peer's response is invalid: an endpoint is out of range or in use, or the limits are too low.
    case invalidResponse
    /// The caller cancelled the request, or the link ended.
    case cancelled
}

/// Why a channel could not be reconfigured.
@nonexhaustive
public enum ChannelReconfigurationFailure: Error, Hashable, Sendable {
    /// The peer refused with this result.
    case refused(CreditBasedReconfigureResult)
    /// The peer does not support the request.
    case notSupported
    /// The peer did not answer in time.
    case timedOut
}

/// Why a channel was closed.
@nonexhaustive
public enum ChannelEnd: Hashable, Sendable {
    /// This device closed the channel. Unless it was closed abruptly, the peer has received everything that was sent.
    case byThisDevice
    /// This device closed the channel, and the peer did not accept the remaining data, or did not answer, in time. Some
    /// of the data may be lost.
    case timedOut
    /// The peer closed the channel.
    case byPeer
    /// The peer violated a rule of the channel, so this device closed it.
    case violated(ChannelViolation)
    /// A K-frame was lost in this device, which therefore closed the channel: later data would be mistaken for the
    /// missing data.
    case dataLost
    /// The link ended.
    case linkEnded
}

/// The rule of a credit-based channel that a peer violated (Core 5.4, Vol 3, Part A, 3.4 and 10.1). A violation closes
/// only this channel.
@nonexhaustive
public enum ChannelViolation: Hashable, Sendable, CaseIterable {
    /// A K-frame without a credit for it.
    case creditExceeded
    /// A K-frame whose information payload is longer than the MPS.
    case frameTooLong
    /// A first K-frame without the length of the SDU.
    case lengthMissing
    /// An SDU longer than the MTU.
    case sduTooLong
    /// K-frames with more octets than the SDU they belong to.
    case sduExceeded
    /// Credits that together exceed 65535.
    case creditOverflow
    /// The peer assigned the endpoint of this channel to another channel as well (4.26).
    case cidReused
}

/// Why a request about channels was not sent.
@nonexhaustive
public enum ChannelRequestError: Error, Hashable, Sendable {
    /// The specification does not allow these parameters.
    case invalidParameters
    /// The maximum number of channels is reached.
    case noRoom
    /// The channel does not exist, or has been closed.
    case noSuchChannel
    /// An earlier request is still waiting for its response.
    case requestOutstanding
}

// MARK: - Texts

extension ChannelOpeningFailure: CustomStringConvertible {
    /// The reason in English, for users, such as `the peer refused the channel: there is no such PSM`.
    public var description: String {
        switch self {
        case .refused(let result): "the peer refused the channel: \(result.text)"
        case .notSupported: "the peer has no L2CAP channels of this kind"
        case .timedOut: "the peer did not answer the request for a channel"
        case .invalidResponse: "the peer's answer to the request for a channel was invalid"
        case .cancelled: "cancelled"
        }
    }
}

extension ChannelReconfigurationFailure: CustomStringConvertible {
    /// The reason in English, for users, such as `the peer cannot change the limits of channels`.
    public var description: String {
        switch self {
        case .refused(let result): "the peer refused the channel's new limits: \(result.text)"
        case .notSupported: "the peer cannot change the limits of channels"
        case .timedOut: "the peer did not answer the request to change a channel's limits"
        }
    }
}

extension CreditBasedReconfigureResult {
    /// A text for the user.
    fileprivate var text: String {
        switch self {
        case .successful: "successful"
        case .mtuReductionNotAllowed: "the MTU may not be reduced"
        case .mpsReductionNotAllowed: "the MPS of several channels may not be reduced"
        case .invalidDestinationCID: "invalid destination CID"
        case .otherUnacceptableParameters: "unacceptable parameters"
        default: "result \(rawValue)"
        }
    }
}

extension ChannelEnd: CustomStringConvertible {
    /// The reason in English, for users, such as `the peer closed the channel`.
    public var description: String {
        switch self {
        case .byThisDevice: "this device closed the channel"
        case .timedOut: "the channel was closed before the peer had accepted all data"
        case .byPeer: "the peer closed the channel"
        case .violated(let violation): "the channel was closed because the peer sent \(violation)"
        case .dataLost: "the channel was closed because some of its data was lost on this device"
        case .linkEnded: "the connection ended, and with it the channel"
        }
    }
}

extension ChannelViolation: CustomStringConvertible {
    /// The violation as the object of "the peer sent", such as `an SDU longer than the MTU`.
    public var description: String {
        switch self {
        case .creditExceeded: "more K-frames than it had credits for"
        case .frameTooLong: "a K-frame longer than the MPS"
        case .lengthMissing: "a K-frame without the length of its SDU"
        case .sduTooLong: "an SDU longer than the MTU"
        case .sduExceeded: "K-frames with more octets than their SDU"
        case .creditOverflow: "credits beyond 65535"
        case .cidReused: "the cid of this channel for another channel"
        }
    }
}

extension CreditBasedConnectionResult {
    /// A text for the user.
    fileprivate var text: String {
        switch self {
        case .successful: "successful"
        case .spsmNotSupported: "there is no such PSM"
        case .noResourcesAvailable: "no resources available"
        case .insufficientAuthentication: "insufficient authentication"
        case .insufficientAuthorization: "insufficient authorization"
        case .encryptionKeySizeTooShort: "the encryption key is too short"
        case .insufficientEncryption: "insufficient encryption"
        case .invalidSourceCID: "invalid source CID"
        case .sourceCIDAlreadyAllocated: "source CID already allocated"
        case .unacceptableParameters: "unacceptable parameters"
        case .invalidParameters: "invalid parameters"
        case .pending: "pending"
        case .pendingAuthentication: "authentication is pending"
        case .pendingAuthorization: "authorization is pending"
        default: "result \(rawValue)"
        }
    }
}
