import BluetoothBase

/// A connection interval in units of 1.25 ms, 0x0006 (7.5 ms) to 0x0C80 (4 s) (Core 5.4, Vol 6, Part B, 4.5.1).
public struct ConnectionInterval: RawRepresentable, Hashable, Comparable, Sendable {
    /// The interval in units of 1.25 ms.
    public var rawValue: UInt16

    /// Creates an interval of `rawValue` × 1.25 ms. Values outside the specification's range are accepted.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The longest interval that is not longer than `duration`, clamped to the range that the specification allows.
    public init(clamping duration: Duration) {
        rawValue = UInt16(clamping: max(6, min(3200, duration.nanoseconds / 1_250_000)))
    }

    /// The time as a `Duration`.
    public var duration: Duration { .microseconds(Int64(rawValue) * 1250) }

    /// The intervals that the specification allows.
    public static var allowed: ClosedRange<ConnectionInterval> { Self(rawValue: 6)...Self(rawValue: 3200) }

    /// Returns whether the first interval is shorter.
    @inlinable
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The time without a received packet after which a link is lost, in units of 10 ms, 0x000A (100 ms) to 0x0C80 (32 s)
/// (Core 5.4, Vol 6, Part B, 4.5.2).
public struct SupervisionTimeout: RawRepresentable, Hashable, Comparable, Sendable {
    /// The timeout in units of 10 ms.
    public var rawValue: UInt16

    /// Creates a timeout of `rawValue` × 10 ms. Values outside the specification's range are accepted.
    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The longest timeout that is not longer than `duration`, clamped to the range that the specification allows.
    public init(clamping duration: Duration) {
        rawValue = UInt16(clamping: max(10, min(3200, duration.nanoseconds / 10_000_000)))
    }

    /// The time as a `Duration`.
    public var duration: Duration { .milliseconds(Int64(rawValue) * 10) }

    /// Returns whether the first timeout is shorter.
    @inlinable
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// A time in units of 0.625 ms, used for advertising and scanning (Core 5.4, Vol 4, Part E, 7.8.5 and 7.8.10). It is
/// encoded in 16 bits in legacy commands and in 24 bits for extended advertising.
public struct LESlots: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number of slots of 0.625 ms. Encoding clamps it to 16 or 24 bits.
    public var rawValue: UInt32

    /// Creates a time of `rawValue` × 0.625 ms. Values outside a command's range are accepted.
    @inlinable
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The largest number of slots not longer than `duration`, clamped to 0x0004 (2.5 ms) to 0xFFFFFF.
    public init(clamping duration: Duration) {
        rawValue = UInt32(clamping: max(4, min(0xFF_FFFF, duration.nanoseconds / 625_000)))
    }

    /// The time as a `Duration`.
    public var duration: Duration { .microseconds(Int64(rawValue) * 625) }

    /// Returns whether the first time is shorter.
    @inlinable
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

extension ConnectionInterval: HCIParameter {}
extension SupervisionTimeout: HCIParameter {}

/// The 16-bit form. Longer times are clamped to the maximum value of the field.
extension LESlots: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        self.init(rawValue: UInt32(try reader.readUInt16()))
    }
    func encode(into writer: inout ByteWriter) { writer.append(UInt16(clamping: rawValue)) }
}

extension ByteReader {
    /// Reads the 24-bit form of a time.
    @_lifetime(self: copy self)
    mutating func readWideSlots() throws(DecodingFailure) -> LESlots { LESlots(rawValue: try readUInt24()) }
}

extension ByteWriter {
    /// Appends the 24-bit form of a time.
    mutating func appendWide(_ slots: LESlots) { append(UInt64(min(slots.rawValue, 0xFF_FFFF)), byteCount: 3) }
}
