import BluetoothBase
import BluetoothGAP

/// Which addresses peers see of this host (Core 5.4, Vol 3, Part C, 10.7).
public enum OwnPrivacy: Equatable, Sendable {
    /// The identity address: anyone can follow this device.
    case off
    /// Resolvable private addresses, made from the Identity Resolving Key, each of which is used for `rotation`, 1 second
    /// to 1 hour. Only peers that are bonded know who it is. This takes `HostConfiguration.security`: without, calls to
    /// scan, to advertise and to connect throw `HostError.unsupported`.
    case resolvable(rotation: Duration = GAPTiming.privateAddressInterval)
    /// Non-resolvable private addresses, which nobody recognizes, each of which is used for `rotation`, 1 second to 1 hour. They
    /// are for devices that only broadcast and observe: calls to connect, and to advertise so that others can connect, throw
    /// `HostError.unsupported` (10.7.3 and 10.7.4).
    case nonResolvable(rotation: Duration = GAPTiming.privateAddressInterval)

    /// How long an address is used; nil where it is not changed.
    var rotation: Duration? {
        switch self {
        case .off: nil
        case .resolvable(let rotation), .nonResolvable(let rotation):
            min(max(rotation, .seconds(1)), .seconds(3600))
        }
    }

    /// Whether bonded peers recognize the addresses.
    var isResolvable: Bool {
        switch self {
        case .off, .nonResolvable: false
        case .resolvable: true
        }
    }
}

/// Whether a bonded peer that has an Identity Resolving Key may also use its identity address (Core 5.4, Vol 3, Part C,
/// 10.7; Vol 6, Part B, 6).
public enum PeerPrivacyMode: Equatable, Sendable {
    /// Device privacy mode: it may. Most devices distribute a key and then use their identity address all the same.
    case device
    /// Network privacy mode: it may not, and a device that uses its identity address is somebody else.
    case network
}
