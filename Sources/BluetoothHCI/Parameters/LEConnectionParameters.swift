import BluetoothBase

/// The parameters a central requests for a connection, as in the commands that create or update one (Core 5.4, Vol 4,
/// Part E, 7.8.12 and 7.8.18).
public struct LEConnectionParameters: Hashable, Sendable {
    /// The minimum interval.
    public var intervalMin: ConnectionInterval
    /// The maximum interval.
    public var intervalMax: ConnectionInterval
    /// The number of connection events the peripheral may skip, 0 to 499.
    public var maxLatency: UInt16
    /// The supervision timeout: more than 2 × (1 + `maxLatency`) × `intervalMax`.
    public var supervisionTimeout: SupervisionTimeout
    /// The minimum length of connection events, in units of 0.625 ms. This is a hint.
    public var minCELength: UInt16
    /// The maximum length of connection events, in units of 0.625 ms. This is a hint.
    public var maxCELength: UInt16

    /// Creates the parameters. By default, the peripheral may skip no connection events, and the lengths of connection
    /// events are 0.
    public init(
        intervalMin: ConnectionInterval, intervalMax: ConnectionInterval, maxLatency: UInt16 = 0,
        supervisionTimeout: SupervisionTimeout, minCELength: UInt16 = 0, maxCELength: UInt16 = 0
    ) {
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.maxLatency = maxLatency
        self.supervisionTimeout = supervisionTimeout
        self.minCELength = minCELength
        self.maxCELength = maxCELength
    }
}

extension LEConnectionParameters: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        (intervalMin, intervalMax, maxLatency, supervisionTimeout, minCELength, maxCELength) = try reader.read()
    }

    func encode(into writer: inout ByteWriter) {
        writer.append(
            parameters: intervalMin, intervalMax, maxLatency, supervisionTimeout, minCELength, maxCELength)
    }
}

/// The role of a device on a link (Core 5.4, Vol 4, Part E, 7.7.65.1). This is not an enumeration, because an invalid
/// value from a broken controller must still reach the code that closes the link.
public struct ConnectionRole: RawRepresentable, Hashable, Sendable {
    /// The Role parameter: 0 for central, 1 for peripheral.
    public var rawValue: UInt8

    /// Creates a role from the event parameter. Invalid values are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device that initiated the connection.
    public static let central = ConnectionRole(rawValue: 0)
    /// The device that advertised.
    public static let peripheral = ConnectionRole(rawValue: 1)
}

/// The accuracy of a peer's sleep clock, from 0x00 (500 ppm) to 0x07 (20 ppm) (Core 5.4, Vol 4, Part E, 7.7.65.1).
public struct ClockAccuracy: RawRepresentable, Hashable, Sendable {
    /// The Clock_Accuracy parameter of an event. Values above 0x07 are reserved.
    public var rawValue: UInt8

    /// Creates an accuracy from the event parameter. Reserved values are kept.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// The channels that a link or a host uses. Bit n is data channel n, 0 to 36 (Core 5.4, Vol 4, Part E, 7.8.19).
public struct LEChannelMap: RawRepresentable, Hashable, Sendable {
    /// The channels as bits 0 to 36. The higher bits are always clear.
    public var rawValue: UInt64
    /// Only the lower 37 bits of `rawValue` are used.
    public init(rawValue: UInt64) { self.rawValue = rawValue & 0x1F_FFFF_FFFF }

    /// Every data channel.
    public static let all = LEChannelMap(rawValue: 0x1F_FFFF_FFFF)
}

/// The maximum length of data channel PDUs (Core 5.4, Vol 6, Part B, 4.5.10).
public struct LEDataLength: Hashable, Sendable {
    /// The number of payload octets, 27 to 251.
    public var octets: UInt16
    /// The transmission time in microseconds, 328 to 17040.
    public var time: UInt16

    /// Creates a maximum length from a number of octets and a transmission time in microseconds.
    public init(octets: UInt16, time: UInt16) {
        self.octets = octets
        self.time = time
    }
}

extension ConnectionRole: HCIParameter {}
extension ClockAccuracy: HCIParameter {}

extension LEChannelMap: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        self.init(rawValue: try reader.readLittleEndian(byteCount: 5))
    }
    func encode(into writer: inout ByteWriter) { writer.append(rawValue, byteCount: 5) }
}

extension LEDataLength: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) { (octets, time) = try reader.read() }
    func encode(into writer: inout ByteWriter) { writer.append(parameters: octets, time) }
}
