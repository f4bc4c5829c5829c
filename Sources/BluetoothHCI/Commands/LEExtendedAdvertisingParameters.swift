import BluetoothBase

/// LE Set Extended Advertising Parameters [v1] (Core 5.4, Vol 4, Part E, 7.8.53): creates or changes an advertising
/// set.
public struct LESetExtendedAdvertisingParameters: HCICommand {
    public static let opcode = HCIOpcode.leSetExtendedAdvertisingParameters
    /// The advertising set to create or change.
    public var advertisingHandle: AdvertisingHandle
    /// The kind of advertising.
    public var properties: AdvertisingEventProperties
    /// The shortest advertising interval, 0x000020 (20 ms) to 0xFFFFFF.
    public var primaryIntervalMin = LESlots(rawValue: 0x0800)
    /// The longest advertising interval, 0x000020 (20 ms) to 0xFFFFFF.
    public var primaryIntervalMax = LESlots(rawValue: 0x0800)
    /// The primary channels to advertise on; at least one.
    public var primaryChannelMap = AdvertisingChannelMap.all
    /// The address to advertise with.
    public var ownAddressType = OwnAddressType.public
    /// The target of directed advertising; ignored otherwise, unless `ownAddressType` is resolvable.
    public var peerAddress = DeviceAddress(0, kind: .public)
    /// Which devices may scan and connect.
    public var filterPolicy = AdvertisingFilterPolicy.all
    /// The highest power to transmit with, in dBm, -127 to 20; 127 lets the controller choose.
    public var transmitPower: Int8 = 127
    /// The PHY of the primary channels: LE 1M or LE Coded.
    public var primaryPHY = LEPHY.le1M
    /// How many advertising events the controller may skip before it sends the auxiliary PDU.
    public var secondaryMaxSkip: UInt8 = 0
    /// The PHY of the secondary channels. Ignored for legacy PDUs.
    public var secondaryPHY = LEPHY.le1M
    /// The set's Advertising SID, 0x00 to 0x0F.
    public var advertisingSID: UInt8 = 0
    /// Whether the controller reports scan requests with LE Scan Request Received.
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

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The power the controller has chosen, in dBm, -127 to 20.
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
