import BluetoothBase

/// A PHY on which advertising is received or sent. The raw values are those of HCI events (Core 5.4, Vol 4, Part E,
/// 7.7.65.13).
public enum AdvertisingPHY: UInt8, Sendable {
    /// LE 1M: 1 Mbit/s. Every device supports it.
    case le1M = 1
    /// LE 2M: 2 Mbit/s. It is never a primary PHY.
    case le2M = 2
    /// LE Coded: 500 or 125 kbit/s, with a longer range.
    case leCoded = 3
}

/// The fields of an advertising report other than its data (Core 5.4, Vol 4, Part E, 7.7.65.13).
public struct AdvertisingDetails: Hashable, Sendable {
    /// The PHY of the primary advertising channel: LE 1M or LE Coded.
    public var primaryPHY: AdvertisingPHY
    /// The PHY of the secondary advertising channel; nil if no packet was received on one.
    public var secondaryPHY: AdvertisingPHY?
    /// Advertising_SID as in the report; 0xFF if the report contains no ADI field.
    @usableFromInline var sidOctet: UInt8
    /// Periodic_Advertising_Interval as in the report, in units of 1.25 ms; 0 without periodic advertising.
    @usableFromInline var periodicUnits: UInt16
    /// Whether the end of the data is missing, because the controller lost it or because it exceeds the limit of this
    /// host.
    public var isTruncated = false
    /// Whether the advertising is anonymous, that is, without an advertiser address.
    public var isAnonymous = false

    /// Creates the details of a report of extended advertising.
    ///
    /// - Parameters:
    ///   - sid: Advertising_SID as in the report; 0xFF means that the report contains no ADI field.
    ///   - periodicInterval: in units of 1.25 ms; 0 means no periodic advertising.
    @inlinable
    public init(
        primaryPHY: AdvertisingPHY, secondaryPHY: AdvertisingPHY? = nil, sid: UInt8 = 0xFF, periodicInterval: UInt16 = 0
    ) {
        self.primaryPHY = primaryPHY
        self.secondaryPHY = secondaryPHY
        sidOctet = sid
        periodicUnits = periodicInterval
    }

    /// The SID of the device's advertising set, 0 to 15; nil if the report contains none, as for legacy PDUs.
    public var sid: UInt8? { sidOctet <= 0x0F ? sidOctet : nil }

    /// The interval of the set's periodic advertising; nil if it has no periodic advertising.
    public var periodicInterval: Duration? {
        periodicUnits == 0 ? nil : .microseconds(Int64(periodicUnits) * 1250)
    }

    /// The details of a legacy PDU.
    @inlinable public static var legacy: Self { Self(primaryPHY: .le1M) }
}
