import BluetoothBase
import BluetoothGAP

/// The kind of addresses that peers see of this host (Core 5.4, Vol 3, Part C, 10.7).
@nonexhaustive
public enum OwnPrivacy: Equatable, Sendable {
    /// The identity address. Anyone can track this device.
    case off
    /// Resolvable private addresses, generated from the Identity Resolving Key. Each address is used for `rotation`, 1
    /// second to 1 hour. Only bonded peers can recognize this device. Requires `HostConfiguration.security`: without
    /// it, calls to scan, advertise and connect throw `HostError.unsupported`.
    case resolvable(rotation: Duration = GAPTiming.privateAddressInterval)
    /// Non-resolvable private addresses, by which no peer can recognize this device. Each address is used for
    /// `rotation`, 1 second to 1 hour. They are for devices that only broadcast and observe: calls to connect, and to
    /// start connectable advertising, throw `HostError.unsupported` (10.7.3 and 10.7.4).
    case nonResolvable(rotation: Duration = GAPTiming.privateAddressInterval)

    /// The time for which an address is used; nil if it never changes.
    var rotation: Duration? {
        switch self {
        case .off: nil
        case .resolvable(let rotation), .nonResolvable(let rotation):
            min(max(rotation, .seconds(1)), .seconds(3600))
        }
    }

    /// Whether bonded peers can resolve the addresses.
    var isResolvable: Bool {
        switch self {
        case .off, .nonResolvable: false
        case .resolvable: true
        }
    }
}

/// Whether a bonded peer with an Identity Resolving Key may also use its identity address (Core 5.4, Vol 3, Part C,
/// 10.7; Vol 6, Part B, 6).
public enum PeerPrivacyMode: Equatable, Sendable {
    /// Device privacy mode: the peer may use its identity address. Many devices distribute a key, but still use their
    /// identity address.
    case device
    /// Network privacy mode: the peer must not use its identity address. A device that does counts as a different
    /// device.
    case network
}
