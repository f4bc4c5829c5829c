import BluetoothBase

/// LE Set Periodic Advertising Parameters [v1] (Core 5.4, Vol 4, Part E, 7.8.61).
public struct LESetPeriodicAdvertisingParameters: HCICommand {
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingParameters
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The shortest interval, in units of 1.25 ms: 0x0006 (7.5 ms) or more.
    public var intervalMin: ConnectionInterval
    /// The longest interval.
    public var intervalMax: ConnectionInterval
    /// What it has besides its data.
    public var properties: PeriodicAdvertisingProperties

    public init(
        advertisingHandle: AdvertisingHandle, intervalMin: ConnectionInterval, intervalMax: ConnectionInterval,
        properties: PeriodicAdvertisingProperties = []
    ) {
        self.advertisingHandle = advertisingHandle
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.properties = properties
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, intervalMin, intervalMax, properties) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, intervalMin, intervalMax, properties)
    }
}

/// LE Set Periodic Advertising Parameters [v2] (Core 5.4, Vol 4, Part E, 7.8.61): with subevents and responses.
public struct LESetPeriodicAdvertisingParametersV2: HCICommand {
    public typealias ReturnParameters = AdvertisingHandleReturnParameters
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingParametersV2
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The shortest interval, in units of 1.25 ms: 0x0006 (7.5 ms) or more.
    public var intervalMin: ConnectionInterval
    /// The longest interval.
    public var intervalMax: ConnectionInterval
    /// What it has besides its data.
    public var properties: PeriodicAdvertisingProperties
    /// How many subevents an event has, 0 to 128; 0 for periodic advertising without responses.
    public var subeventCount: UInt8
    /// From one subevent to the next, in units of 1.25 ms: 6 to 255.
    public var subeventInterval: UInt8
    /// From a subevent to its first response slot, in units of 1.25 ms; 0 for no slots.
    public var responseSlotDelay: UInt8
    /// From one response slot to the next, in units of 0.125 ms: 2 to 255.
    public var responseSlotSpacing: UInt8
    /// How many response slots a subevent has.
    public var responseSlotCount: UInt8

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

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, intervalMin, intervalMax, properties, subeventCount, subeventInterval) =
            try parameters.read()
        (responseSlotDelay, responseSlotSpacing, responseSlotCount) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(
            parameters: advertisingHandle, intervalMin, intervalMax, properties, subeventCount, subeventInterval)
        writer.append(parameters: responseSlotDelay, responseSlotSpacing, responseSlotCount)
    }
}

/// LE Set Periodic Advertising Data (Core 5.4, Vol 4, Part E, 7.8.62).
public struct LESetPeriodicAdvertisingData: HCICommand {
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingData
    /// The most octets of data in one command.
    public static let maximumLength = 252
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// Which part of the data this is.
    public var operation: AdvertisingDataFragment.Operation
    /// Up to 252 octets; anything beyond is not sent.
    public var data: [UInt8]

    public init(
        advertisingHandle: AdvertisingHandle, operation: AdvertisingDataFragment.Operation = .complete, data: [UInt8]
    ) {
        self.advertisingHandle = advertisingHandle
        self.operation = operation
        self.data = data
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, operation) = try parameters.read()
        data = try parameters.readCounted(upTo: Self.maximumLength)
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, operation)
        writer.append(counted: data, upTo: Self.maximumLength)
    }
}

/// LE Set Periodic Advertising Enable (Core 5.4, Vol 4, Part E, 7.8.63).
public struct LESetPeriodicAdvertisingEnable: HCICommand {
    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingEnable
    /// Whether it is on.
    public var enabling: PeriodicAdvertisingEnabling
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle

    public init(enabling: PeriodicAdvertisingEnabling, advertisingHandle: AdvertisingHandle) {
        self.enabling = enabling
        self.advertisingHandle = advertisingHandle
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (enabling, advertisingHandle) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: enabling, advertisingHandle)
    }
}

/// LE Set Periodic Advertising Subevent Data (Core 5.4, Vol 4, Part E, 7.8.125): the answer to LE Periodic Advertising Subevent Data
/// Request.
public struct LESetPeriodicAdvertisingSubeventData: HCICommand {
    public typealias ReturnParameters = AdvertisingHandleReturnParameters

    /// What is sent in one subevent, and in which slots it may be answered.
    public struct Subevent: Hashable, Sendable {
        /// The longest data.
        public static let maximumLength = 251
        /// The subevent, 0x00 to 0x7F.
        public var number: UInt8
        /// The first response slot that is used.
        public var responseSlotStart: UInt8
        /// How many are used.
        public var responseSlotCount: UInt8
        /// Up to 251 octets; anything beyond is not sent.
        public var data: [UInt8]

        public init(number: UInt8, responseSlotStart: UInt8, responseSlotCount: UInt8, data: [UInt8]) {
            self.number = number
            self.responseSlotStart = responseSlotStart
            self.responseSlotCount = responseSlotCount
            self.data = data
        }
    }

    public static let opcode = HCIOpcode.leSetPeriodicAdvertisingSubeventData
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// 1 to 15 subevents, as many as fit into 255 octets.
    public var subevents: [Subevent]

    public init(advertisingHandle: AdvertisingHandle, subevents: [Subevent]) {
        self.advertisingHandle = advertisingHandle
        self.subevents = subevents
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        advertisingHandle = try parameters.read()
        subevents = []
        for _ in 0..<(try parameters.readUInt8()) { subevents.append(try parameters.read()) }
    }

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

/// A status octet and the advertising set the command was about.
public struct AdvertisingHandleReturnParameters: HCIReturnParameters {
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle

    public init(advertisingHandle: AdvertisingHandle) { self.advertisingHandle = advertisingHandle }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        advertisingHandle = try parameters.read()
    }

    public func encode(into writer: inout ByteWriter) { writer.append(parameters: advertisingHandle) }
}

extension ByteReader {
    /// Reads a length and as many octets.
    @_lifetime(self: copy self)
    mutating func readCounted(upTo limit: Int) throws(DecodingFailure) -> [UInt8] {
        let length = Int(try readUInt8())
        guard length <= limit else { throw DecodingFailure(.invalidLength, at: offset - 1) }
        return Array(try readBytes(length))
    }
}

extension ByteWriter {
    /// Appends a length and as many octets.
    mutating func append(counted data: [UInt8], upTo limit: Int) {
        let data = data.span.extracting(first: limit)
        append(UInt8(truncatingIfNeeded: data.count))
        append(data)
    }
}
