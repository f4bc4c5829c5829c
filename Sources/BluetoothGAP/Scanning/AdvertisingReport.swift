import BluetoothBase

/// One advertising packet that was received: what the two kinds of report event have in common (Core 5.4, Vol 4, Part
/// E, 7.7.65.2 and 7.7.65.13).
public struct AdvertisingReport: ~Escapable {
    /// Who sent it. Of an anonymous advertiser, which has no address: `anonymousAddress(_:sid:)`.
    public var address: DeviceAddress
    /// Who that is, whatever address it uses.
    public var peer: PeerID
    public var eventType: AdvertisingEventType
    /// The received signal strength in dBm, nil if it was not measured.
    public var rssi: Int8?
    /// The transmit power in dBm contained in the packet itself, which only an extended one can carry.
    public var txPowerLevel: Int8?
    /// What else the report says.
    public var details: AdvertisingDetails
    /// Advertising data or, with `.scanResponse` in `eventType`, scan response data; reassembled from its fragments.
    public var data: Span<UInt8>

    /// - Parameters:
    ///   - peer: who sent it; nil for one that is known by this address.
    ///   - rssi: the octet of the report; 127 means not available.
    ///   - txPowerLevel: the octet of the report; 127 means not available.
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
    /// What stands for the address of an anonymous advertiser: the same for the same data with the same SID, which is all
    /// that is known of it. It is of the kind that no device has (Core 5.4, Vol 6, Part B, 1.3.2: the two top bits are
    /// 0b10), so that nothing else is taken for it.
    public static func anonymousAddress(_ data: Span<UInt8>, sid: UInt8) -> DeviceAddress {
        // FNV-1a.
        var hash: UInt64 = (0xCBF2_9CE4_8422_2325 ^ UInt64(sid)) &* 0x100_0000_01B3
        for index in data.indices { hash = (hash ^ UInt64(data[index])) &* 0x100_0000_01B3 }
        return DeviceAddress((hash ^ hash >> 46) & 0x3FFF_FFFF_FFFF | 1 << 47, kind: .random)
    }
}
