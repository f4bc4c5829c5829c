/// The role of a device on one link (Core 5.4, Vol 3, Part C, 2.2.2). The raw values are those of HCI's `Role` (Vol 4,
/// Part E, 7.7.65.1).
public enum LinkRole: UInt8, Sendable, CaseIterable {
    case central = 0
    case peripheral = 1
}
