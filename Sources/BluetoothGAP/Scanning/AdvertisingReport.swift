import BluetoothBase

/// A received advertising packet, with the fields that both kinds of report event have in common (Core 5.4, Vol 4, Part
/// E, 7.7.65.2 and 7.7.65.13).
public struct AdvertisingReport: ~Escapable {
    /// The address of the advertiser. For an anonymous advertiser, which has no address, the result of
    /// `anonymousAddress(_:sid:)`.
    public var address: DeviceAddress
    /// The identity of the advertiser, regardless of the address it currently uses.
    public var peer: PeerID
    /// The properties of the advertising event, and whether `data` is a scan response.
    public var eventType: AdvertisingEventType
    /// The received signal strength in dBm; nil if it was not measured.
    public var rssi: Int8?
    /// The transmit power in dBm that the packet itself contains. Only an extended advertising packet can contain it.
    public var txPowerLevel: Int8?
    /// The other fields of the report.
    public var details: AdvertisingDetails
    /// The advertising data or, if `eventType` contains `.scanResponse`, the scan response data, reassembled from its
    /// fragments.
    public var data: Span<UInt8>

    /// Creates a report, which refers to the memory of `data`.
    ///
    /// - Parameters:
    ///   - peer: the identity of the advertiser; nil for an advertiser that is known by this address.
    ///   - rssi: the octet of the report; 127 means that it is not available.
    ///   - txPowerLevel: the octet of the report; 127 means that it is not available.
    @inlinable
    @_lifetime(copy data)
    public init(
        address: DeviceAddress, peer: PeerID? = nil, eventType: AdvertisingEventType, rssi: Int8 = 127,
        txPowerLevel: Int8 = 127, details: AdvertisingDetails = .legacy,
        data: Span<UInt8>
    ) {
        self.address = address
        self.peer = peer ?? PeerID(address)
        self.eventType = eventType
        self.rssi = rssi == 127 ? nil : rssi
        self.txPowerLevel = txPowerLevel == 127 ? nil : txPowerLevel
        self.details = details
        self.data = data
    }
}

extension AdvertisingReport {
    /// Returns a placeholder for the address of an anonymous advertiser. It is derived from the data and the SID, which
    /// is all that is known about the advertiser. No device can have such an address, because its two most significant
    /// bits are 0b10, which is reserved (Core 5.4, Vol 6, Part B, 1.3.2).
    public static func anonymousAddress(_ data: Span<UInt8>, sid: UInt8) -> DeviceAddress {
        // FNV-1a.
        var hash: UInt64 = (0xCBF2_9CE4_8422_2325 ^ UInt64(sid)) &* 0x100_0000_01B3
        for index in data.indices { hash = (hash ^ UInt64(data[index])) &* 0x100_0000_01B3 }
        return DeviceAddress((hash ^ hash >> 46) & 0x3FFF_FFFF_FFFF | 1 << 47, kind: .random)
    }
}
