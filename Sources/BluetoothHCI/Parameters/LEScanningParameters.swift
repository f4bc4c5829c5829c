/// Whether a scanner requests scan responses (Core 5.4, Vol 4, Part E, 7.8.10).
public enum LEScanType: UInt8, Sendable {
    /// Passive scanning: no scan requests are sent.
    case passive = 0
    /// Active scanning: scan requests are sent.
    case active = 1
}

/// The advertisements that a scanner reports (Core 5.4, Vol 4, Part E, 7.8.10).
public enum ScanningFilterPolicy: UInt8, Sendable {
    /// All advertisements, except those directed to other devices.
    case all = 0
    /// Only advertisements of devices on the Filter Accept List, except those directed to other devices.
    case acceptListOnly = 1
    /// Like `all`, plus advertisements directed to a resolvable private address that can't be resolved.
    case allAndUnresolvedDirected = 2
    /// Like `acceptListOnly`, plus advertisements directed to a resolvable private address that can't be resolved.
    case acceptListAndUnresolvedDirected = 3
}

/// Whether the controller reports an advertiser only once (Core 5.4, Vol 4, Part E, 7.8.65).
public enum DuplicateFiltering: UInt8, Sendable {
    /// Report every advertisement.
    case disabled = 0
    /// Report each advertiser once.
    case enabled = 1
    /// Report each advertiser once in each scan period. Extended scanning only.
    case resetEachPeriod = 2
}

/// The devices that an initiator connects to (Core 5.4, Vol 4, Part E, 7.8.12).
public enum InitiatorFilterPolicy: UInt8, Sendable {
    /// The device specified in the command.
    case peerAddress = 0
    /// Any device on the Filter Accept List.
    case acceptList = 1
}

extension LEScanType: HCIParameter {}
extension ScanningFilterPolicy: HCIParameter {}
extension DuplicateFiltering: HCIParameter {}
extension InitiatorFilterPolicy: HCIParameter {}
