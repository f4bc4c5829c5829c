/// A coarse classification of a device's distance.
public enum ProximityZone: Sendable, CaseIterable {
    /// Within reach.
    case immediate
    /// In the same part of a room.
    case near
    /// In range.
    case far
    /// No signal has been measured.
    case unknown
}
