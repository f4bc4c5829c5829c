import BluetoothHCI

/// The reason why a link ended.
@nonexhaustive
public enum DisconnectReason: Equatable, Sendable {
    /// The peer ended the link, at the request of its user or its application.
    case byPeer
    /// The peer is about to power off, or is low on resources.
    case peerShutDown
    /// This device ended the link.
    case byThisDevice
    /// Nothing was received from the peer for the supervision timeout. The peer is out of range or switched off.
    case supervisionTimeout
    /// The adapter was reset.
    case adapterReset
    /// The adapter was unplugged, or cannot be reached any more.
    case adapterRemoved
    /// Encryption failed, or a key was missing.
    case encryption(HCIStatus)
    /// An ATT transaction timed out after 30 seconds, which makes the bearer unusable.
    case transactionTimeout
    /// Values from the peer arrived faster than the application consumed them, and exceeded the link's buffer.
    case consumerTooSlow
    /// The peer sent requests or indications without waiting for the answers, until more responses and confirmations
    /// were waiting than the send queue can hold. The host then ended the link. ATT allows one request and one
    /// indication at a time (Core 5.4, Vol 3, Part F, 3.3.2). The status in a capture is Memory Capacity Exceeded
    /// (0x07).
    case peerTooFast
    /// The link ended so long ago that the reason is no longer known.
    case unknown
    /// Any other reason, as reported by the controller (Core 5.4, Vol 1, Part F).
    case other(HCIStatus)

    package init(_ status: HCIStatus) {
        switch status {
        case .remoteUserTerminatedConnection: self = .byPeer
        case .remoteDeviceLowResources, .remoteDevicePowerOff: self = .peerShutDown
        case .connectionTerminatedByLocalHost: self = .byThisDevice
        case .connectionTimeout: self = .supervisionTimeout
        case .hardwareFailure: self = .adapterReset
        case .micFailure, .authenticationFailure, .pinOrKeyMissing: self = .encryption(status)
        case .llResponseTimeout: self = .transactionTimeout
        case .memoryCapacityExceeded: self = .peerTooFast
        default: self = .other(status)
        }
    }
}

extension DisconnectReason: CustomStringConvertible {
    /// The reason in words, such as "the peer ended the connection". For `other`, the name of the status.
    public var description: String {
        switch self {
        case .byPeer: "the peer ended the connection"
        case .peerShutDown: "the peer shut down"
        case .byThisDevice: "this device ended the connection"
        case .supervisionTimeout: "nothing was received from the peer (supervision timeout)"
        case .adapterReset: "the adapter was reset"
        case .adapterRemoved: "the adapter is gone"
        case .encryption(let status): "encryption failed: \(status)"
        case .transactionTimeout: "the peer did not answer a request in time"
        case .consumerTooSlow: "values arrived faster than this program consumed them"
        case .peerTooFast:
            "the peer sent too many requests or indications without waiting for the answers"
        case .unknown: "the connection has ended"
        case .other(let status): "\(status)"
        }
    }
}
