import BluetoothBase

/// LE Set Advertising Parameters (Core 5.4, Vol 4, Part E, 7.8.5).
public struct LESetAdvertisingParameters: HCICommand {
    public static let opcode = HCIOpcode.leSetAdvertisingParameters
    /// The shortest advertising interval, 0x0020 (20 ms) to 0x4000 (10.24 s).
    public var intervalMin: LESlots
    /// The longest advertising interval, 0x0020 (20 ms) to 0x4000 (10.24 s).
    public var intervalMax: LESlots
    /// The PDU to advertise with.
    public var type: LEAdvertisingType
    /// The address to advertise with.
    public var ownAddressType: OwnAddressType
    /// The target of directed advertising; ignored otherwise, unless `ownAddressType` is resolvable.
    public var peerAddress: DeviceAddress
    /// The channels to advertise on; at least one.
    public var channelMap: AdvertisingChannelMap
    /// Which devices may scan and connect. Ignored for directed advertising.
    public var filterPolicy: AdvertisingFilterPolicy

    public init(
        intervalMin: LESlots = .init(rawValue: 0x0800),
        intervalMax: LESlots = .init(rawValue: 0x0800),
        type: LEAdvertisingType = .connectableUndirected,
        ownAddressType: OwnAddressType = .public,
        peerAddress: DeviceAddress = DeviceAddress(0, kind: .public),
        channelMap: AdvertisingChannelMap = .all,
        filterPolicy: AdvertisingFilterPolicy = .all
    ) {
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.type = type
        self.ownAddressType = ownAddressType
        self.peerAddress = peerAddress
        self.channelMap = channelMap
        self.filterPolicy = filterPolicy
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (intervalMin, intervalMax, type, ownAddressType, peerAddress, channelMap, filterPolicy) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: intervalMin, intervalMax, type, ownAddressType, peerAddress, channelMap, filterPolicy)
    }
}

/// LE Read Advertising Physical Channel Tx Power (Core 5.4, Vol 4, Part E, 7.8.6).
public struct LEReadAdvertisingPhysicalChannelTxPower: HCIParameterlessCommand {
    public static let opcode = HCIOpcode.leReadAdvertisingPhysicalChannelTxPower
    public init() {}

    /// What the controller returns.
    public struct ReturnParameters: HCIReturnParameters {
        /// The power used for legacy advertising, in dBm, -127 to 20.
        public var transmitPowerLevel: Int8

        public init(transmitPowerLevel: Int8) {
            self.transmitPowerLevel = transmitPowerLevel
        }

        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            transmitPowerLevel = try parameters.read()
        }

        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: transmitPowerLevel)
        }
    }
}

/// LE Set Advertising Data (Core 5.4, Vol 4, Part E, 7.8.7).
public struct LESetAdvertisingData: HCICommand {
    public static let opcode = HCIOpcode.leSetAdvertisingData
    /// Up to 31 octets; anything beyond is not sent.
    public var data: [UInt8]

    public init(data: [UInt8]) { self.data = data }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        data = try parameters.readLegacyData()
    }

    public func encodeParameters(into writer: inout ByteWriter) { writer.appendLegacyData(data) }
}

/// LE Set Scan Response Data (Core 5.4, Vol 4, Part E, 7.8.8).
public struct LESetScanResponseData: HCICommand {
    public static let opcode = HCIOpcode.leSetScanResponseData
    /// Up to 31 octets; anything beyond is not sent.
    public var data: [UInt8]

    public init(data: [UInt8]) { self.data = data }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        data = try parameters.readLegacyData()
    }

    public func encodeParameters(into writer: inout ByteWriter) { writer.appendLegacyData(data) }
}

extension ByteReader {
    /// Reads a length octet and a field of 31 octets, of which that many are data.
    @_lifetime(self: copy self)
    fileprivate mutating func readLegacyData() throws(DecodingFailure) -> [UInt8] {
        let length = Int(try readUInt8())
        guard length <= 31 else { throw DecodingFailure(.invalidLength, at: offset - 1) }
        return Array(try readBytes(31).extracting(first: length))
    }
}

extension ByteWriter {
    /// Appends a length octet and a field of 31 octets, padded with zeros.
    fileprivate mutating func appendLegacyData(_ data: [UInt8]) {
        let count = min(data.count, 31)
        append(UInt8(count))
        append(data.span.extracting(first: count))
        append(repeating: 0, count: 31 - count)
    }
}

/// LE Set Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.9).
public struct LESetAdvertisingEnable: HCICommand {
    public static let opcode = HCIOpcode.leSetAdvertisingEnable
    /// Whether to advertise.
    public var isEnabled: Bool

    public init(isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        isEnabled = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: isEnabled)
    }
}
