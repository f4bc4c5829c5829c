import BluetoothBase

/// LE Set Periodic Advertising Parameters [v1] (Core 5.4, Vol 4, Part E, 7.8.61).
public struct LESetPeriodicAdvertisingParameters: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x003E.
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingParameters
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The minimum interval in units of 1.25 ms, 0x0006 (7.5 ms) or more.
    public var intervalMin: ConnectionInterval
    /// The maximum interval.
    public var intervalMax: ConnectionInterval
    /// The optional fields of the periodic advertising PDUs.
    public var properties: PeriodicAdvertisingProperties

    /// Creates the command for a set. By default, the PDUs contain no optional fields.
    public init(
        advertisingHandle: AdvertisingHandle, intervalMin: ConnectionInterval, intervalMax: ConnectionInterval,
        properties: PeriodicAdvertisingProperties = []
    ) {
        self.advertisingHandle = advertisingHandle
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.properties = properties
    }

    /// Decodes seven octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, intervalMin, intervalMax, properties) = try parameters.read()
    }

    /// Appends the seven octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, intervalMin, intervalMax, properties)
    }
}

/// LE Set Periodic Advertising Parameters [v2] (Core 5.4, Vol 4, Part E, 7.8.61), which supports subevents and
/// responses.
public struct LESetPeriodicAdvertisingParametersV2: HCICommand {
    /// The controller returns the advertising handle.
    public typealias ReturnParameters = AdvertisingHandleReturnParameters
    /// The command's opcode: OGF 0x08, OCF 0x0086.
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingParametersV2
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The minimum interval in units of 1.25 ms, 0x0006 (7.5 ms) or more.
    public var intervalMin: ConnectionInterval
    /// The maximum interval.
    public var intervalMax: ConnectionInterval
    /// The optional fields of the periodic advertising PDUs.
    public var properties: PeriodicAdvertisingProperties
    /// The number of subevents in a periodic advertising event, 0 to 128; 0 for periodic advertising without responses.
    public var subeventCount: UInt8
    /// The time between the starts of two subevents, in units of 1.25 ms, 6 to 255.
    public var subeventInterval: UInt8
    /// The time between the start of a subevent and its first response slot, in units of 1.25 ms; 0 without response
    /// slots.
    public var responseSlotDelay: UInt8
    /// The time between two response slots, in units of 0.125 ms, 2 to 255.
    public var responseSlotSpacing: UInt8
    /// The number of response slots in a subevent.
    public var responseSlotCount: UInt8

    /// Creates the command for a set. By default, the periodic advertising has no subevents and no response slots.
    public init(
        advertisingHandle: AdvertisingHandle, intervalMin: ConnectionInterval, intervalMax: ConnectionInterval,
        properties: PeriodicAdvertisingProperties = [], subeventCount: UInt8 = 0, subeventInterval: UInt8 = 0,
        responseSlotDelay: UInt8 = 0, responseSlotSpacing: UInt8 = 0, responseSlotCount: UInt8 = 0
    ) {
        self.advertisingHandle = advertisingHandle
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.properties = properties
        self.subeventCount = subeventCount
        self.subeventInterval = subeventInterval
        self.responseSlotDelay = responseSlotDelay
        self.responseSlotSpacing = responseSlotSpacing
        self.responseSlotCount = responseSlotCount
    }

    /// Decodes 12 octets of parameters. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, intervalMin, intervalMax, properties, subeventCount, subeventInterval) =
            try parameters.read()
        (responseSlotDelay, responseSlotSpacing, responseSlotCount) = try parameters.read()
    }

    /// Appends the 12 octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: advertisingHandle, intervalMin, intervalMax, properties, subeventCount, subeventInterval)
        writer.append(parameters: responseSlotDelay, responseSlotSpacing, responseSlotCount)
    }
}

/// LE Set Periodic Advertising Data (Core 5.4, Vol 4, Part E, 7.8.62).
public struct LESetPeriodicAdvertisingData: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x003F.
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingData
    /// The maximum number of data octets in one command.
    public static let maximumLength = 252
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The position of this fragment in the data.
    public var operation: AdvertisingDataFragment.Operation
    /// The data, up to 252 octets. Further octets are not sent.
    public var data: [UInt8]

    /// Creates the command for a set, by default with its complete data.
    public init(
        advertisingHandle: AdvertisingHandle, operation: AdvertisingDataFragment.Operation = .complete, data: [UInt8]
    ) {
        self.advertisingHandle = advertisingHandle
        self.operation = operation
        self.data = data
    }

    /// Decodes the advertising handle, the operation, the length and the data. Throws if octets are missing, if the
    /// operation is reserved, or if the length exceeds 252.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, operation) = try parameters.read()
        data = try parameters.readCounted(upTo: Self.maximumLength)
    }

    /// Appends the advertising handle, the operation, the length and the data.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, operation)
        writer.append(counted: data, upTo: Self.maximumLength)
    }
}

/// LE Set Periodic Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.63).
public struct LESetPeriodicAdvertisingEnable: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0040.
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingEnable
    /// Whether to enable periodic advertising, and its options.
    public var enabling: PeriodicAdvertisingEnabling
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle

    /// Creates the command for a set. Without `.enabled`, it stops the periodic advertising of the set.
    public init(enabling: PeriodicAdvertisingEnabling, advertisingHandle: AdvertisingHandle) {
        self.enabling = enabling
        self.advertisingHandle = advertisingHandle
    }

    /// Decodes the enabling bits and the advertising handle, two octets. Throws if octets are missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (enabling, advertisingHandle) = try parameters.read()
    }

    /// Appends the enabling bits and the advertising handle, two octets.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: enabling, advertisingHandle)
    }
}

/// LE Set Periodic Advertising Subevent Data (Core 5.4, Vol 4, Part E, 7.8.125): the response to an LE Periodic
/// Advertising Subevent Data Request event.
public struct LESetPeriodicAdvertisingSubeventData: HCICommand {
    /// The controller returns the advertising handle.
    public typealias ReturnParameters = AdvertisingHandleReturnParameters

    /// The data to send in one subevent, and the response slots that may be used.
    public struct Subevent: Hashable, Sendable {
        /// The maximum number of data octets.
        public static let maximumLength = 251
        /// The subevent, 0x00 to 0x7F.
        public var number: UInt8
        /// The first response slot to use.
        public var responseSlotStart: UInt8
        /// The number of response slots to use.
        public var responseSlotCount: UInt8
        /// The data, up to 251 octets. Further octets are not sent.
        public var data: [UInt8]

        /// Creates the data of one subevent, with the response slots that receivers may use.
        public init(number: UInt8, responseSlotStart: UInt8, responseSlotCount: UInt8, data: [UInt8]) {
            self.number = number
            self.responseSlotStart = responseSlotStart
            self.responseSlotCount = responseSlotCount
            self.data = data
        }
    }

    /// The command's opcode: OGF 0x08, OCF 0x0082.
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingSubeventData
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// 1 to 15 subevents, which must fit into the 255 octets of a command.
    public var subevents: [Subevent]

    /// Creates the command for a set. Only the first 15 subevents are sent.
    public init(advertisingHandle: AdvertisingHandle, subevents: [Subevent]) {
        self.advertisingHandle = advertisingHandle
        self.subevents = subevents
    }

    /// Decodes the advertising handle, the number of subevents and the subevents. Throws if octets are missing, or if
    /// the length of a subevent's data exceeds 251.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        advertisingHandle = try parameters.read()
        subevents = []
        for _ in 0..<(try parameters.readUInt8()) { subevents.append(try parameters.read()) }
    }

    /// Appends the advertising handle, the number of subevents, at most 15, and the subevents.
    public func encodeParameters(into writer: inout ByteWriter) {
        let subevents = subevents.prefix(15)
        writer.append(parameters: advertisingHandle, UInt8(subevents.count))
        for subevent in subevents { subevent.encode(into: &writer) }
    }
}

extension LESetPeriodicAdvertisingSubeventData.Subevent: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        (number, responseSlotStart, responseSlotCount) = try reader.read()
        data = try reader.readCounted(upTo: Self.maximumLength)
    }

    func encode(into writer: inout ByteWriter) {
        writer.append(parameters: number, responseSlotStart, responseSlotCount)
        writer.append(counted: data, upTo: Self.maximumLength)
    }
}

/// Return parameters that consist of a status octet and an advertising handle.
public struct AdvertisingHandleReturnParameters: HCIReturnParameters {
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle

    /// Creates the return parameters for this advertising set.
    public init(advertisingHandle: AdvertisingHandle) { self.advertisingHandle = advertisingHandle }

    /// Decodes the advertising handle, one octet. Throws if the octet is missing.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        advertisingHandle = try parameters.read()
    }

    /// Appends the advertising handle, one octet.
    public func encode(into writer: inout ByteWriter) { writer.append(parameters: advertisingHandle) }
}

extension ByteReader {
    /// Reads a length octet and that number of octets.
    @_lifetime(self: copy self)
    mutating func readCounted(upTo limit: Int) throws(DecodingFailure) -> [UInt8] {
        let length = Int(try readUInt8())
        guard length <= limit else { throw DecodingFailure(.invalidLength, at: offset - 1) }
        return Array(try readBytes(length))
    }
}

extension ByteWriter {
    /// Appends a length octet and the data, truncated to `limit` octets.
    mutating func append(counted data: [UInt8], upTo limit: Int) {
        let data = data.span.extracting(first: limit)
        append(UInt8(truncatingIfNeeded: data.count))
        append(data)
    }
}
