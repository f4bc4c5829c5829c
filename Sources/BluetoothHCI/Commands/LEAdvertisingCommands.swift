import BluetoothBase

/// LE Set Advertising Parameters (Core 5.4, Vol 4, Part E, 7.8.5).
public struct LESetAdvertisingParameters: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0006.
    public static let opcode = HCIOpcode.leSetAdvertisingParameters
    /// The minimum advertising interval, 0x0020 (20 ms) to 0x4000 (10.24 s).
    public var intervalMin: LESlots
    /// The maximum advertising interval, 0x0020 (20 ms) to 0x4000 (10.24 s).
    public var intervalMax: LESlots
    /// The type of the advertising PDU.
    public var type: LEAdvertisingType
    /// The type of this device's address to use in advertising.
    public var ownAddressType: OwnAddressType
    /// The target of directed advertising. For other advertising it is ignored, unless `ownAddressType` is resolvable.
    public var peerAddress: DeviceAddress
    /// The channels to advertise on; at least one.
    public var channelMap: AdvertisingChannelMap
    /// The devices that may send scan and connection requests. Ignored for directed advertising.
    public var filterPolicy: AdvertisingFilterPolicy

    /// Creates the command. By default, the advertising is connectable and scannable, every 1.28 s on all channels.
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

    /// Decodes 15 octets of parameters. Throws if octets are missing, or if the advertising type, the own address type,
    /// the peer address type or the filter policy is reserved.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (intervalMin, intervalMax, type, ownAddressType, peerAddress, channelMap, filterPolicy) = try parameters.read()
    }

    /// Appends the 15 octets of parameters. The intervals are clamped to 16 bits.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: intervalMin, intervalMax, type, ownAddressType, peerAddress, channelMap, filterPolicy)
    }
}

/// LE Read Advertising Physical Channel Tx Power (Core 5.4, Vol 4, Part E, 7.8.6).
public struct LEReadAdvertisingPhysicalChannelTxPower: HCIParameterlessCommand {
    /// The command's opcode: OGF 0x08, OCF 0x0007.
    public static let opcode = HCIOpcode.leReadAdvertisingPhysicalChannelTxPower

    /// Creates the command, which has no parameters.
    public init() {}

    /// The return parameters of the command.
    public struct ReturnParameters: HCIReturnParameters {
        /// The power used for legacy advertising, in dBm, -127 to 20.
        public var transmitPowerLevel: Int8

        /// Creates the return parameters. The power is in dBm.
        public init(transmitPowerLevel: Int8) {
            self.transmitPowerLevel = transmitPowerLevel
        }

        /// Decodes the power level, one octet. Throws if the octet is missing.
        public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
            transmitPowerLevel = try parameters.read()
        }

        /// Appends the power level, one octet.
        public func encode(into writer: inout ByteWriter) {
            writer.append(parameters: transmitPowerLevel)
        }
    }
}

/// LE Set Advertising Data (Core 5.4, Vol 4, Part E, 7.8.7).
public struct LESetAdvertisingData: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0008.
    public static let opcode = HCIOpcode.leSetAdvertisingData
    /// The data, up to 31 octets. Further octets are not sent.
    public var data: [UInt8]

    /// Creates the command. Only the first 31 octets are sent.
    public init(data: [UInt8]) { self.data = data }

    /// Decodes the length and the field of 31 octets. Throws if octets are missing, or if the length exceeds 31.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        data = try parameters.readLegacyData()
    }

    /// Appends the length and the data, padded with zeros to 31 octets.
    public func encodeParameters(into writer: inout ByteWriter) { writer.appendLegacyData(data) }
}

/// LE Set Scan Response Data (Core 5.4, Vol 4, Part E, 7.8.8).
public struct LESetScanResponseData: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0009.
    public static let opcode = HCIOpcode.leSetScanResponseData
    /// The data, up to 31 octets. Further octets are not sent.
    public var data: [UInt8]

    /// Creates the command. Only the first 31 octets are sent.
    public init(data: [UInt8]) { self.data = data }

    /// Decodes the length and the field of 31 octets. Throws if octets are missing, or if the length exceeds 31.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        data = try parameters.readLegacyData()
    }

    /// Appends the length and the data, padded with zeros to 31 octets.
    public func encodeParameters(into writer: inout ByteWriter) { writer.appendLegacyData(data) }
}

extension ByteReader {
    /// Reads a length octet and a 31-octet field that contains that number of data octets.
    @_lifetime(self: copy self)
    fileprivate mutating func readLegacyData() throws(DecodingFailure) -> [UInt8] {
        let length = Int(try readUInt8())
        guard length <= 31 else { throw DecodingFailure(.invalidLength, at: offset - 1) }
        return Array(try readBytes(31).extracting(first: length))
    }
}

extension ByteWriter {
    /// Appends a length octet and a 31-octet field, padded with zeros.
    fileprivate mutating func appendLegacyData(_ data: [UInt8]) {
        let count = min(data.count, 31)
        append(UInt8(count))
        append(data.span.extracting(first: count))
        append(repeating: 0, count: 31 - count)
    }
}

/// LE Set Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.9).
public struct LESetAdvertisingEnable: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x000A.
    public static let opcode = HCIOpcode.leSetAdvertisingEnable
    /// Whether to advertise.
    public var isEnabled: Bool

    /// Creates the command that starts or stops legacy advertising.
    public init(isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    /// Decodes the flag, one octet. Throws if the octet is missing, or if the flag is neither 0x00 nor 0x01.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        isEnabled = try parameters.read()
    }

    /// Appends the flag, one octet.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: isEnabled)
    }
}
