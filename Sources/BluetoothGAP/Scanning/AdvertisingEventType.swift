/// How a device advertises, and whether a report is of its advertising or of its scan response. The bits are the lower
/// five of `Event_Type` in LE Extended Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.13).
public struct AdvertisingEventType: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable public static var connectable: Self { Self(rawValue: 1 << 0) }
    @inlinable public static var scannable: Self { Self(rawValue: 1 << 1) }
    @inlinable public static var directed: Self { Self(rawValue: 1 << 2) }
    /// The report is of a scan response: it does not say whether the device is connectable.
    @inlinable public static var scanResponse: Self { Self(rawValue: 1 << 3) }
    /// The device uses legacy advertising PDUs.
    @inlinable public static var legacy: Self { Self(rawValue: 1 << 4) }

    /// The meaning of `Event_Type` in LE Advertising Report (Vol 4, Part E, 7.7.65.2); nil for a value that has none.
    @inlinable
    public init?(legacyEventType: UInt8) {
        switch legacyEventType {
        case 0: self = [.legacy, .connectable, .scannable]
        case 1: self = [.legacy, .connectable, .directed]
        case 2: self = [.legacy, .scannable]
        case 3: self = [.legacy]
        case 4: self = [.legacy, .scannable, .scanResponse]
        default: return nil
        }
    }
}
