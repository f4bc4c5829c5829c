import BluetoothBase

/// LE Set Extended Advertising Parameters [v1] (Core 5.4, Vol 4, Part E, 7.8.53): creates or changes an advertising
/// set.
public struct LESetExtendedAdvertisingParameters: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0036.
    public static let opcode = HCIOpcode.leSetExtendedAdvertisingParameters
    /// The advertising set to create or change.
    public var advertisingHandle: AdvertisingHandle
    /// The kind of advertising.
    public var properties: AdvertisingEventProperties
    /// The minimum advertising interval, 0x000020 (20 ms) to 0xFFFFFF.
    public var primaryIntervalMin = LESlots(rawValue: 0x0800)
    /// The maximum advertising interval, 0x000020 (20 ms) to 0xFFFFFF.
    public var primaryIntervalMax = LESlots(rawValue: 0x0800)
    /// The primary advertising channels to use; at least one.
    public var primaryChannelMap = AdvertisingChannelMap.all
    /// The type of this device's address to use in advertising.
    public var ownAddressType = OwnAddressType.public
    /// The target of directed advertising. For other advertising it is ignored, unless `ownAddressType` is resolvable.
    public var peerAddress = DeviceAddress(0, kind: .public)
    /// The devices that may send scan and connection requests.
    public var filterPolicy = AdvertisingFilterPolicy.all
    /// The maximum transmit power in dBm, -127 to 20; 127 lets the controller choose.
    public var transmitPower: Int8 = 127
    /// The PHY of the primary advertising channels: LE 1M or LE Coded.
    public var primaryPHY = LEPHY.le1M
    /// The maximum number of advertising events that the controller may skip before it sends the auxiliary PDU.
    public var secondaryMaxSkip: UInt8 = 0
    /// The PHY of the secondary advertising channels. Ignored for legacy PDUs.
    public var secondaryPHY = LEPHY.le1M
    /// The set's Advertising SID, 0x00 to 0x0F.
    public var advertisingSID: UInt8 = 0
    /// Whether the controller reports scan requests with LE Scan Request Received events.
    public var notifiesScanRequests = false

    /// Creates the command for a set. By default, it advertises every 1.28 s on all channels, on LE 1M and with the
    /// public address.
    public init(advertisingHandle: AdvertisingHandle, properties: AdvertisingEventProperties) {
        self.advertisingHandle = advertisingHandle
        self.properties = properties
    }

    /// Decodes 25 octets of parameters. Throws if octets are missing, if an address type or the filter policy is
    /// reserved, or if the flag is neither 0x00 nor 0x01.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, properties) = try parameters.read()
        primaryIntervalMin = try parameters.readWideSlots()
        primaryIntervalMax = try parameters.readWideSlots()
        (primaryChannelMap, ownAddressType, peerAddress, filterPolicy, transmitPower) = try parameters.read()
        (primaryPHY, secondaryMaxSkip, secondaryPHY, advertisingSID, notifiesScanRequests) = try parameters.read()
    }

    /// Appends the 25 octets of parameters. The intervals are clamped to 24 bits.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, properties)
        writer.appendWide(primaryIntervalMin)
        writer.appendWide(primaryIntervalMax)
        writer.append(parameters: primaryChannelMap, ownAddressType, peerAddress, filterPolicy, transmitPower)
        writer.append(parameters: primaryPHY, secondaryMaxSkip, secondaryPHY, advertisingSID, notifiesScanRequests)
    }

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The transmit power that the controller has selected, in dBm, -127 to 20.
        public var selectedTransmitPower: Int8

        /// Creates the return parameters. The power is in dBm.
        public init(selectedTransmitPower: Int8) { self.selectedTransmitPower = selectedTransmitPower }

        /// Decodes the transmit power, one octet. Throws if the octet is missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            selectedTransmitPower = try parameters.read()
        }

        /// Appends the transmit power, one octet.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: selectedTransmitPower)
        }
    }
}
