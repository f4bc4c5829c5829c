/// Whether a scanner requests scan responses (Core 5.4, Vol 4, Part E, 7.8.10).
public enum LEScanType: UInt8, Sendable {
    /// Only listens.
    case passive = 0
    /// Sends scan requests.
    case active = 1
}

/// Whose advertisements a scanner reports (Core 5.4, Vol 4, Part E, 7.8.10).
public enum ScanningFilterPolicy: UInt8, Sendable {
    /// All advertisements, except directed ones meant for other devices.
    case all = 0
    /// Only those of devices on the Filter Accept List, except directed ones meant for other devices.
    case acceptListOnly = 1
    /// As `all`, and also directed ones to a resolvable private address that cannot be resolved.
    case allAndUnresolvedDirected = 2
    /// As `acceptListOnly`, and also directed ones to a resolvable private address that cannot be resolved.
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

/// Which device an initiator connects to (Core 5.4, Vol 4, Part E, 7.8.12).
public enum InitiatorFilterPolicy: UInt8, Sendable {
    /// The device the command names.
    case peerAddress = 0
    /// Any device on the Filter Accept List.
    case acceptList = 1
}

extension LEScanType: HCIParameter {}
extension ScanningFilterPolicy: HCIParameter {}
extension DuplicateFiltering: HCIParameter {}
extension InitiatorFilterPolicy: HCIParameter {}
