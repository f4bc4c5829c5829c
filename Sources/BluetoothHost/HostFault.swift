/// How far something wrong that comes from outside reaches.
public enum FaultScope: Equatable, Sendable {
    /// The peer gets an error in answer. Nothing else happens.
    case answered
    /// The host ignores it. If a frame of a credit-based channel is lost with it, that channel closes (`ChannelEnd.dataLost`).
    case dropped
    /// The channel it came over cannot be used any more. The link goes on.
    case channelClosed
    /// The host ends the link, or the link has ended already.
    case linkEnded
    /// The controller is reset.
    case controllerReset
}

/// What may be wrong with what comes from the controller or from a peer.
public enum HostFault: Int, CaseIterable, Sendable {
    // Of the controller
    /// A packet of no known type, an event of another length than it says, or something only a host sends.
    case packetMalformed
    /// An event whose parameters make no sense.
    case eventInvalid
    /// ACL data that cannot be decoded, or belongs to no link.
    case dataUnassigned
    /// ACL data with flags that no controller may send on an LE link: a broadcast, or a whole frame of an AMP controller
    /// (Core 5.4, Vol 4, Part E, 5.4.2).
    case dataFlagsInvalid
    /// A connection that the host has not asked for: to another address, or with no attempt under way. It is ended.
    case connectionUnexpected
    /// Somebody connects under the identity address of a bonded peer that has to use private ones, in network privacy mode
    /// (Vol 6, Part B, 6.2.3): the link is ended.
    case identityAddressUsed

    /// A link that ended as soon as it began: the controller or the peer dropped it within 100 ms.
    case linkShortLived

    // Of a link
    /// A frame was still incomplete when the next one began.
    case frameInterrupted
    /// Fragments that do not make up a frame, or a packet that is not as long as it says.
    case fragmentInvalid
    /// The first fragment of a frame without any data.
    case fragmentEmpty
    /// A frame on a channel that is not open (Core 5.4, Vol 3, Part A, 2.1).
    case channelUnknown
    /// A frame for a link that is ending or was never established.
    case frameUnwanted
    /// An ATT PDU that cannot be decoded, and that asks for no answer.
    case attributePDUMalformed
    /// An ATT PDU longer than the ATT_MTU, and that asks for no answer (Vol 3, Part F, 3.2.8). An indication is confirmed.
    case attributePDUTooLong
    /// An ATT PDU that is well-formed and must be ignored, such as a write command to an attribute that is not writable.
    case attributePDUIgnored
    /// A signed write whose signature is wrong, was used before, or is of a peer without a key (Vol 3, Part C, 10.4.2).
    case signatureInvalid
    /// A signalling command that was rejected.
    case signallingRejected
    /// A request to pair on a host without security (Vol 3, Part H, 3.5.5).
    case pairingRefused
    /// The controller reports a link as encrypted for which it was given no key.
    case encryptionUnexpected
    /// A peer has distributed the identity of another one, which is bonded, or was refused new keys for a bond whose key it has
    /// not shown. The bond stays as it was.
    case bondClaimed
    /// A value from a bonded peer over a link that is not encrypted: anyone could have sent it.
    case valueUnprotected
    /// No response to an ATT request on the fixed channel (Vol 3, Part F, 3.3.3). The link is of no use without it, and ends.
    case bearerExpired
    /// No response to an ATT request on an enhanced bearer, which is closed. The link has other bearers.
    case enhancedBearerExpired
    /// A rule of a credit-based channel was broken (Vol 3, Part A, 3.4 and 10.1), or the peer asked for so many answers on an
    /// enhanced bearer that they no longer fit. The channel is closed.
    case channelViolated
    /// A peer asked for so many answers that they no longer fit into the send queue.
    case sendQueueOverflow

    /// How far it reaches.
    public var scope: FaultScope {
        switch self {
        case .packetMalformed: .controllerReset
        case .eventInvalid, .dataUnassigned, .dataFlagsInvalid, .frameInterrupted, .fragmentInvalid, .fragmentEmpty,
            .channelUnknown, .frameUnwanted, .attributePDUMalformed, .attributePDUTooLong, .attributePDUIgnored,
            .encryptionUnexpected, .bondClaimed, .valueUnprotected, .signatureInvalid:
            .dropped
        case .signallingRejected, .pairingRefused: .answered
        case .enhancedBearerExpired, .channelViolated: .channelClosed
        case .connectionUnexpected, .identityAddressUsed, .linkShortLived, .bearerExpired, .sendQueueOverflow:
            .linkEnded
        }
    }

    /// What it means for the stream of its link; nil where nothing is missing from that.
    var loss: LinkLoss? {
        switch self {
        case .frameInterrupted: .frameInterrupted
        case .fragmentInvalid, .dataFlagsInvalid: .fragmentInvalid
        case .attributePDUMalformed: .attributePDUInvalid
        case .attributePDUTooLong: .attributePDUTooLong
        default: nil
        }
    }
}
