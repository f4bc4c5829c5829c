import BluetoothBase

/// A PHY that advertising is received or sent on. The raw values are those of HCI's events (Core 5.4, Vol 4, Part E,
/// 7.7.65.13).
public enum AdvertisingPHY: UInt8, Sendable {
    /// LE 1M: 1 Mbit/s, which every device has.
    case le1M = 1
    /// LE 2M: 2 Mbit/s. Never a primary PHY.
    case le2M = 2
    /// LE Coded: 500 or 125 kbit/s, which reach further.
    case leCoded = 3
}

/// What a report of advertising says beside its data (Core 5.4, Vol 4, Part E, 7.7.65.13).
public struct AdvertisingDetails: Hashable, Sendable {
    /// The PHY of the primary channel: LE 1M or LE Coded.
    public var primaryPHY: AdvertisingPHY
    /// The PHY of the secondary channel; nil where nothing was received on one.
    public var secondaryPHY: AdvertisingPHY?
    /// The octet of the report: 0xFF for no set.
    @usableFromInline var sidOctet: UInt8
    /// The interval of periodic advertising as in the report, in units of 1.25 ms; 0 for none.
    @usableFromInline var periodicUnits: UInt16
    /// Whether the end of the data is missing: the controller lost it, or there was more than this host keeps.
    public var isTruncated = false
    /// Whether the advertiser gives no address.
    public var isAnonymous = false

    /// - Parameters:
    ///   - sid: the octet of the report; 0xFF means that there is no set.
    ///   - periodicInterval: in units of 1.25 ms; 0 means that there is no periodic advertising.
    @inlinable
    public init(
        primaryPHY: AdvertisingPHY, secondaryPHY: AdvertisingPHY? = nil, sid: UInt8 = 0xFF, periodicInterval: UInt16 = 0
    ) {
        self.primaryPHY = primaryPHY
        self.secondaryPHY = secondaryPHY
        sidOctet = sid
        periodicUnits = periodicInterval
    }

    /// Which of the device's advertising sets it is, 0 to 15; nil with legacy PDUs, which belong to none.
    public var sid: UInt8? { sidOctet <= 0x0F ? sidOctet : nil }

    /// The interval of the set's periodic advertising; nil where it has none.
    public var periodicInterval: Duration? {
        periodicUnits == 0 ? nil : .microseconds(Int64(periodicUnits) * 1250)
    }

    /// What there is to say of a legacy PDU.
    @inlinable public static var legacy: Self { Self(primaryPHY: .le1M) }
}
