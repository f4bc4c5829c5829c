/// The extent to which a fault in received data affects the host.
public enum FaultScope: Equatable, Sendable {
    /// The peer receives an error response. Nothing else happens.
    case answered
    /// The host ignores the data. If a frame of a credit-based channel is lost, that channel is closed
    /// (`ChannelEnd.dataLost`).
    case dropped
    /// The channel becomes unusable and is closed. The link continues.
    case channelClosed
    /// The host ends the link, or the link has ended already.
    case linkEnded
    /// The controller is reset.
    case controllerReset
}

/// A fault in data from the controller or from a peer.
public enum HostFault: Int, CaseIterable, Sendable {
    // Faults of the controller
    /// A packet of an unknown type, an event whose length field is wrong, or a packet that only a host sends.
    case packetMalformed
    /// An event with invalid parameters.
    case eventInvalid
    /// ACL data that cannot be decoded, or that belongs to no link.
    case dataUnassigned
    /// ACL data with flags that no controller may send on an LE link: a broadcast, or a complete frame of an AMP
    /// controller (Core 5.4, Vol 4, Part E, 5.4.2).
    case dataFlagsInvalid
    /// A connection that the host has not requested: to a different address, or without a pending attempt. The host
    /// disconnects it.
    case connectionUnexpected
    /// A device connects with the identity address of a bonded peer that has to use private addresses, in network
    /// privacy mode (Vol 6, Part B, 6.2.3). The host disconnects it.
    case identityAddressUsed

    /// A link that ended as soon as it began: the controller or the peer dropped it within 100 ms.
    case linkShortLived

    // Faults of a link
    /// A frame was still incomplete when the next one began.
    case frameInterrupted
    /// Fragments that do not form a frame, or a packet with a wrong length.
    case fragmentInvalid
    /// The first fragment of a frame, without any data.
    case fragmentEmpty
    /// A frame on a channel that is not open (Core 5.4, Vol 3, Part A, 2.1).
    case channelUnknown
    /// A frame on a link that is ending or was never established.
    case frameUnwanted
    /// An ATT PDU that cannot be decoded and needs no response.
    case attributePDUMalformed
    /// An ATT PDU that is longer than the ATT_MTU and needs no response (Vol 3, Part F, 3.2.8). An indication is
    /// confirmed.
    case attributePDUTooLong
    /// A well-formed ATT PDU that must be ignored, such as a write command to an attribute that is not writable.
    case attributePDUIgnored
    /// A signed write with a wrong signature, with a counter that was used before, or from a peer without a signing key
    /// (Vol 3, Part C, 10.4.2).
    case signatureInvalid
    /// A signalling command that was rejected.
    case signallingRejected
    /// A pairing request to a host without security (Vol 3, Part H, 3.5.5).
    case pairingRefused
    /// The controller reports encryption of a link for which it was given no key.
    case encryptionUnexpected
    /// A peer distributed the identity of a different, bonded peer. The bond is unchanged.
    case bondClaimed
    /// A peer requested new keys for a bond without having proved that it has the bond's key, and was refused. The bond
    /// is unchanged.
    case bondUnproven
    /// A value from a bonded peer over an unencrypted link. Any device could have sent it.
    case valueUnprotected
    /// A missing response to an ATT request on the fixed channel (Vol 3, Part F, 3.3.3). The link is useless without
    /// it, and ends.
    case bearerExpired
    /// A missing response to an ATT request on an enhanced bearer. The bearer is closed. The link has other bearers.
    case enhancedBearerExpired
    /// A violation of the rules for credit-based channels (Vol 3, Part A, 3.4 and 10.1), or more requests on an
    /// enhanced bearer than the send queue has room for responses. The channel is closed.
    case channelViolated
    /// More requests from a peer than the send queue has room for responses.
    case sendQueueOverflow

    /// The extent of the fault.
    public var scope: FaultScope {
        switch self {
        case .packetMalformed: .controllerReset
        case .eventInvalid, .dataUnassigned, .dataFlagsInvalid, .frameInterrupted, .fragmentInvalid, .fragmentEmpty,
            .channelUnknown, .frameUnwanted, .attributePDUMalformed, .attributePDUTooLong, .attributePDUIgnored,
            .encryptionUnexpected, .bondClaimed, .valueUnprotected, .signatureInvalid:
            .dropped
        case .signallingRejected, .pairingRefused, .bondUnproven: .answered
        case .enhancedBearerExpired, .channelViolated: .channelClosed
        case .connectionUnexpected, .identityAddressUsed, .linkShortLived, .bearerExpired, .sendQueueOverflow:
            .linkEnded
        }
    }

    /// The loss that the fault means for the data stream of its link; nil if nothing in the stream is missing.
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
