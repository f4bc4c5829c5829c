import BluetoothBase

/// LE Set Extended Advertising Parameters [v1] (Core 5.4, Vol 4, Part E, 7.8.53): makes an advertising set, or changes
/// one.
public struct LESetExtendedAdvertisingParameters: HCICommand {
    public static let opcode = HCIOpcode.leSetExtendedAdvertisingParameters
    public var advertisingHandle: AdvertisingHandle
    public var properties: AdvertisingEventProperties
    /// 0x000020 (20 ms) to 0xFFFFFF.
    public var primaryIntervalMin = LESlots(rawValue: 0x0800)
    /// 0x000020 (20 ms) to 0xFFFFFF.
    public var primaryIntervalMax = LESlots(rawValue: 0x0800)
    public var primaryChannelMap = AdvertisingChannelMap.all
    public var ownAddressType = OwnAddressType.public
    /// Whom directed advertising calls.
    public var peerAddress = DeviceAddress(0, kind: .public)
    public var filterPolicy = AdvertisingFilterPolicy.all
    /// The highest power to send at, in dBm, -127 to 20; 127 leaves it to the controller.
    public var transmitPower: Int8 = 127
    public var primaryPHY = LEPHY.le1M
    /// How many events the auxiliary PDU may skip.
    public var secondaryMaxSkip: UInt8 = 0
    public var secondaryPHY = LEPHY.le1M
    /// The set's SID, 0x00 to 0x0F.
    public var advertisingSID: UInt8 = 0
    public var notifiesScanRequests = false

    public init(advertisingHandle: AdvertisingHandle, properties: AdvertisingEventProperties) {
        self.advertisingHandle = advertisingHandle
        self.properties = properties
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, properties) = try parameters.read()
        primaryIntervalMin = try parameters.readWideSlots()
        primaryIntervalMax = try parameters.readWideSlots()
        (primaryChannelMap, ownAddressType, peerAddress, filterPolicy, transmitPower) = try parameters.read()
        (primaryPHY, secondaryMaxSkip, secondaryPHY, advertisingSID, notifiesScanRequests) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, properties)
        writer.appendWide(primaryIntervalMin)
        writer.appendWide(primaryIntervalMax)
        writer.append(parameters: primaryChannelMap, ownAddressType, peerAddress, filterPolicy, transmitPower)
        writer.append(parameters: primaryPHY, secondaryMaxSkip, secondaryPHY, advertisingSID, notifiesScanRequests)
    }

    public struct ReturnParameters: HCIReturnParameters {
        /// In dBm, -127 to 20.
        public var selectedTransmitPower: Int8

        public init(selectedTransmitPower: Int8) { self.selectedTransmitPower = selectedTransmitPower }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            selectedTransmitPower = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: selectedTransmitPower)
        }
    }
}
