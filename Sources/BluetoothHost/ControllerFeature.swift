/// A feature that a call needs, and that the controller or the host's configuration may lack.
@nonexhaustive
public enum ControllerFeature: Equatable, Sendable, CaseIterable {
    /// LE Extended Advertising, with the commands for advertising sets (Core 5.4, Vol 6, Part B, 4.6.12).
    case extendedAdvertising
    /// LE 2M PHY (4.6.9).
    case le2M
    /// LE Coded PHY (4.6.11).
    case leCoded
    /// LE Set PHY (Vol 4, Part E, 7.8.49).
    case phyUpdates
    /// LE Periodic Advertising, as an advertiser (Vol 6, Part B, 4.6.13).
    case periodicAdvertising
    /// LE Periodic Advertising, as a scanner (4.6.13).
    case periodicSynchronization
    /// Periodic Advertising with Responses, as an advertiser (4.6.43).
    case periodicResponses
    /// Periodic Advertising with Responses, as a scanner (4.6.44).
    case periodicSubevents
    /// LE Set Periodic Advertising Receive Enable (Vol 4, Part E, 7.8.88).
    case periodicReporting
    /// Connections in a subevent of periodic advertising (Vol 4, Part E, 7.8.66).
    case subeventConnections
    /// Periodic Advertising Sync Transfer (Vol 6, Part B, 4.6.22 and 4.6.23).
    case syncTransfer
    /// LE Power Control and path loss monitoring (4.6.29 and 4.6.30).
    case powerControl
    /// Resolvable private addresses, which need an IRK.
    case resolvableAddresses
    /// An address that peers can connect to. Non-resolvable private addresses are for broadcasts only.
    case connectableAddress
    /// The Security Manager, which a host has only if it is configured with security.
    case pairing
}

extension ControllerFeature: CustomStringConvertible {
    /// States that the feature is missing, such as "the controller does not support LE Coded".
    public var description: String {
        switch self {
        case .extendedAdvertising: "the controller does not support extended advertising"
        case .le2M: "the controller does not support LE 2M"
        case .leCoded: "the controller does not support LE Coded"
        case .phyUpdates: "the controller does not support PHYs other than LE 1M"
        case .periodicAdvertising: "the controller does not support periodic advertising"
        case .periodicSynchronization: "the controller does not support receiving periodic advertising"
        case .periodicResponses: "the controller does not support periodic advertising with responses"
        case .periodicSubevents:
            "the controller does not support responses to periodic advertising, or the advertising does not accept them"
        case .periodicReporting: "the controller does not support turning off periodic reports"
        case .subeventConnections: "the controller does not support connections in subevents of periodic advertising"
        case .syncTransfer: "the controller does not support Periodic Advertising Sync Transfer"
        case .powerControl: "the controller does not support LE Power Control"
        case .resolvableAddresses: "this host has no IRK, which resolvable private addresses require"
        case .connectableAddress: "this host uses non-resolvable private addresses, which are for broadcasts only"
        case .pairing:
            "this host is configured without the Security Manager, which pairing requires; by default it has one if "
                + "the package trait Pairing is enabled, and OpenSSL 3 is installed or the trait BoringSSL enabled"
        }
    }
}
