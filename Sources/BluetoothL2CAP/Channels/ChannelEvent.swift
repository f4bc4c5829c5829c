/// Something that happened to a credit-based channel.
public enum ChannelEvent: Hashable, Sendable {
    /// The channel is open, as one side asked for.
    case opened(CreditBasedChannel.ID, by: ChannelOpener)
    /// What `openChannel` or `openChannels` asked for did not come about. The name is void.
    case openingFailed(CreditBasedChannel.ID, ChannelOpeningFailure)
    /// The peer takes longer SDUs or K-frames, or shorter ones, from now on.
    case limitsChanged(CreditBasedChannel.ID)
    /// What `reconfigure` asked for holds; nil, or has been refused.
    case reconfigured([CreditBasedChannel.ID], ChannelReconfigurationFailure?)
    /// The channel is closed. Its name is void.
    case closed(CreditBasedChannel.ID, ChannelEnd)
}

/// The side that asked for a channel.
public enum ChannelOpener: Hashable, Sendable {
    case thisDevice
    case peer
}

/// Why a channel could not be opened.
public enum ChannelOpeningFailure: Error, Hashable, Sendable {
    /// The peer refused, with this result.
    case refused(CreditBasedConnectionResult)
    /// The peer does not know the request: it has no such channels.
    case notSupported
    /// The peer did not answer in time.
    case timedOut
    /// The peer agreed to something that cannot be: an endpoint that is out of range or in use, or limits that are too low.
    case invalidResponse
    /// The caller called it off.
    case cancelled
}

/// Why a channel could not be reconfigured.
public enum ChannelReconfigurationFailure: Error, Hashable, Sendable {
    /// The peer refused, with this result.
    case refused(CreditBasedReconfigureResult)
    /// The peer does not know the request.
    case notSupported
    /// The peer did not answer in time.
    case timedOut
}

/// Why a channel was closed.
public enum ChannelEnd: Hashable, Sendable {
    /// This device closed it, and the peer has received what was sent, unless the end was to be abrupt.
    case byThisDevice
    /// This device closed it, and the peer did not take what was sent, or did not answer, in time: some of that may be lost.
    case timedOut
    /// The peer closed it.
    case byPeer
    /// The peer broke a rule of the channel, which was closed for that.
    case violated(ChannelViolation)
    /// A K-frame of it was lost in this device, which closed it for that: what comes later would be taken for what is missing.
    case dataLost
    /// Its link has ended.
    case linkEnded
}

/// Which rule of a credit-based channel a peer broke (Core 5.4, Vol 3, Part A, 3.4 and 10.1). It costs the peer the channel,
/// and no more.
public enum ChannelViolation: Hashable, Sendable, CaseIterable {
    /// A K-frame without a credit for it.
    case creditExceeded
    /// A K-frame whose information payload is longer than the MPS.
    case frameTooLong
    /// A first K-frame without the length of the SDU.
    case lengthMissing
    /// An SDU longer than the MTU.
    case sduTooLong
    /// K-frames with more than the SDU they belong to.
    case sduExceeded
    /// Credits that together exceed 65535.
    case creditOverflow
    /// Another channel was given the same endpoint by the peer (4.26).
    case endpointReused
}

/// Why a request about channels was not sent.
public enum ChannelRequestError: Error, Hashable, Sendable {
    /// The specification does not allow these parameters.
    case invalidParameters
    /// As many channels as there may be are there.
    case noRoom
    /// There is no such channel: it has been closed.
    case noSuchChannel
    /// An earlier request waits for its answer.
    case requestOutstanding
}

// MARK: - Texts

extension ChannelOpeningFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let result): "the peer refused the channel: \(result.text)"
        case .notSupported: "the peer has no L2CAP channels of this kind"
        case .timedOut: "the peer did not answer the request for a channel"
        case .invalidResponse: "the peer answered the request for a channel with what cannot be"
        case .cancelled: "cancelled"
        }
    }
}

extension ChannelReconfigurationFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let result): "the peer refused the channel's new limits: \(result.text)"
        case .notSupported: "the peer cannot change the limits of channels"
        case .timedOut: "the peer did not answer the request for other limits of a channel"
        }
    }
}

extension CreditBasedReconfigureResult {
    /// What it says to a person.
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
    public var description: String {
        switch self {
        case .byThisDevice: "this device closed the channel"
        case .timedOut: "the channel was closed, and the peer did not take what was still to send"
        case .byPeer: "the peer closed the channel"
        case .violated(let violation): "the channel was closed because the peer sent \(violation)"
        case .dataLost: "the channel was closed because some of its data was lost in this device"
        case .linkEnded: "the connection has ended, and the channel with it"
        }
    }
}

extension ChannelViolation: CustomStringConvertible {
    public var description: String {
        switch self {
        case .creditExceeded: "more than it had credits for"
        case .frameTooLong: "a K-frame longer than the MPS"
        case .lengthMissing: "a K-frame without the length of its SDU"
        case .sduTooLong: "an SDU longer than the MTU"
        case .sduExceeded: "more than the SDU it belongs to"
        case .creditOverflow: "credits beyond 65535"
        case .endpointReused: "the endpoint of an open channel for another one"
        }
    }
}

extension CreditBasedConnectionResult {
    /// What it says to a person.
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
