/// The properties of an advertising event, and whether a report contains advertising data or scan response data. The
/// bits are the lower five of `Event_Type` in LE Extended Advertising Report (Core 5.4, Vol 4, Part E, 7.7.65.13).
public struct AdvertisingEventType: OptionSet, Hashable, Sendable {
    /// Bits 0 to 4 of `Event_Type`.
    public var rawValue: UInt8

    /// Creates a set from the bits of `Event_Type`.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The advertiser accepts connections.
    @inlinable public static var connectable: Self { Self(rawValue: 1 << 0) }
    /// The advertiser responds to scan requests.
    @inlinable public static var scannable: Self { Self(rawValue: 1 << 1) }
    /// The advertising is directed to one device.
    @inlinable public static var directed: Self { Self(rawValue: 1 << 2) }
    /// The report contains a scan response, which does not indicate whether the device is connectable.
    @inlinable public static var scanResponse: Self { Self(rawValue: 1 << 3) }
    /// The device uses legacy advertising PDUs.
    @inlinable public static var legacy: Self { Self(rawValue: 1 << 4) }

    /// Converts `Event_Type` of LE Advertising Report (Vol 4, Part E, 7.7.65.2). Returns nil for a reserved value.
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
