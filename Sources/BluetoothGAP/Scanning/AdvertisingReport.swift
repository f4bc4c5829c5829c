import BluetoothBase

/// One advertising packet that was received: what the two kinds of report event have in common (Core 5.4, Vol 4, Part
/// E, 7.7.65.2 and 7.7.65.13).
public struct AdvertisingReport: ~Escapable {
    /// Who sent it.
    public var address: DeviceAddress
    /// Who that is, whatever address it uses.
    public var peer: PeerID
    public var eventType: AdvertisingEventType
    /// The received signal strength in dBm, nil if it was not measured.
    public var rssi: Int8?
    /// The transmit power in dBm contained in the packet itself, which only an extended one can carry.
    public var txPowerLevel: Int8?
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
        txPowerLevel: Int8 = 127,
        data: Span<UInt8>
    ) {
        self.address = address
        self.peer = peer ?? PeerID(address)
        self.eventType = eventType
        self.rssi = rssi == 127 ? nil : rssi
        self.txPowerLevel = txPowerLevel == 127 ? nil : txPowerLevel
        self.data = data
    }
}
