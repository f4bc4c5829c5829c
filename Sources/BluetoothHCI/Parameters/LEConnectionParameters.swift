import BluetoothBase

/// The parameters a central requests for a connection, as in the commands that create or update one (Core 5.4, Vol 4,
/// Part E, 7.8.12 and 7.8.18).
public struct LEConnectionParameters: Hashable, Sendable {
    /// The shortest interval.
    public var intervalMin: ConnectionInterval
    /// The longest interval.
    public var intervalMax: ConnectionInterval
    /// How many connection events the peripheral may skip, 0 to 499.
    public var maxLatency: UInt16
    /// The supervision timeout: more than 2 × (1 + `maxLatency`) × `intervalMax`.
    public var supervisionTimeout: SupervisionTimeout
    /// The shortest connection event expected, in units of 0.625 ms: a hint.
    public var minCELength: UInt16
    /// The longest connection event expected, in units of 0.625 ms: a hint.
    public var maxCELength: UInt16

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

/// The role a device has on a link (Core 5.4, Vol 4, Part E, 7.7.65.1). Not an enumeration, because an invalid value
/// from a broken controller must still reach the code that closes the link.
public struct ConnectionRole: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The device that initiated the connection.
    public static let central = ConnectionRole(rawValue: 0)
    /// The device that advertised.
    public static let peripheral = ConnectionRole(rawValue: 1)
}

/// The accuracy of a peer's sleep clock, from 0x00 (500 ppm) to 0x07 (20 ppm) (Core 5.4, Vol 4, Part E, 7.7.65.1).
public struct ClockAccuracy: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// The channels a link or a host uses: bit n is data channel n, 0 to 36 (Core 5.4, Vol 4, Part E, 7.8.19).
public struct LEChannelMap: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt64
    /// Only the lower 37 bits of `rawValue` count.
    public init(rawValue: UInt64) { self.rawValue = rawValue & 0x1F_FFFF_FFFF }

    /// Every data channel.
    public static let all = LEChannelMap(rawValue: 0x1F_FFFF_FFFF)
}

/// How long data channel PDUs may be (Core 5.4, Vol 6, Part B, 4.5.10).
public struct LEDataLength: Hashable, Sendable {
    /// Payload octets, 27 to 251.
    public var octets: UInt16
    /// Microseconds, 328 to 17040.
    public var time: UInt16

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
