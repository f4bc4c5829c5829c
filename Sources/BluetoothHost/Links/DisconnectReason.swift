import BluetoothHCI

/// Why a link ended.
public enum DisconnectReason: Equatable, Sendable {
    /// The peer ended it: its user or its program asked for that.
    case byPeer
    /// The peer is about to switch itself off, or is short of resources.
    case peerShutDown
    /// This program ended it.
    case byThisDevice
    /// The peer was not heard for the supervision timeout: out of range, or switched off.
    case supervisionTimeout
    /// The adapter was reset.
    case adapterReset
    /// The adapter was unplugged or became unreachable.
    case adapterRemoved
    /// The encryption failed or a key was missing.
    case encryption(HCIStatus)
    /// An ATT transaction timed out after 30 seconds, which makes the bearer unusable.
    case transactionTimeout
    /// Values of the peer arrived faster than this program took them, and exceeded the buffer of the link.
    case consumerTooSlow
    /// The peer sent requests or indications without waiting for the answers, until more than a thousand responses and
    /// confirmations waited to be sent: this host then ended the link. ATT allows one request and one indication at a time
    /// (Core 5.4, Vol 3, Part F, 3.3.2). The status in a capture is Memory Capacity Exceeded (0x07).
    case peerTooFast
    /// The link ended so long ago that its reason is no longer known.
    case unknown
    /// Any other reason, as the controller reported it (Core 5.4, Vol 1, Part F).
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
    public var description: String {
        switch self {
        case .byPeer: "the peer ended the connection"
        case .peerShutDown: "the peer shut down"
        case .byThisDevice: "this device ended the connection"
        case .supervisionTimeout: "the peer was not heard any more (supervision timeout)"
        case .adapterReset: "the adapter was reset"
        case .adapterRemoved: "the adapter is gone"
        case .encryption(let status): "encryption failed: \(status)"
        case .transactionTimeout: "the peer left a request unanswered for too long"
        case .consumerTooSlow: "values came faster than this program took them"
        case .peerTooFast:
            "the peer sent more requests or indications, without waiting for the answers, than can be kept"
        case .unknown: "the connection has ended"
        case .other(let status): "\(status)"
        }
    }
}
