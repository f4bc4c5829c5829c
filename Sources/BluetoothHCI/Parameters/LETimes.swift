import BluetoothBase

/// A connection interval in units of 1.25 ms, 0x0006 (7.5 ms) to 0x0C80 (4 s) (Core 5.4, Vol 6, Part B, 4.5.1).
public struct ConnectionInterval: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The longest interval that is not longer than `duration`, clamped to what the specification allows.
    public init(clamping duration: Duration) {
        rawValue = UInt16(clamping: max(6, min(3200, duration.nanoseconds / 1_250_000)))
    }

    /// The time as a `Duration`.
    public var duration: Duration { .microseconds(Int64(rawValue) * 1250) }

    /// The intervals the specification allows.
    public static var allowed: ClosedRange<ConnectionInterval> { Self(rawValue: 6)...Self(rawValue: 3200) }

    @inlinable
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// How long a link may be silent before it counts as lost, in units of 10 ms, 0x000A (100 ms) to 0x0C80 (32 s)
/// (Core 5.4, Vol 6, Part B, 4.5.2).
public struct SupervisionTimeout: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt16

    @inlinable
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The longest timeout that is not longer than `duration`, clamped to what the specification allows.
    public init(clamping duration: Duration) {
        rawValue = UInt16(clamping: max(10, min(3200, duration.nanoseconds / 10_000_000)))
    }

    /// The time as a `Duration`.
    public var duration: Duration { .milliseconds(Int64(rawValue) * 10) }

    @inlinable
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// A time in units of 0.625 ms, as advertising and scanning use it (Core 5.4, Vol 4, Part E, 7.8.5 and 7.8.10).
/// Legacy commands carry 16 bits of it, extended advertising 24.
public struct LESlots: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt32

    @inlinable
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The largest number of slots not longer than `duration`, clamped to 0x0004 (2.5 ms) to 0xFFFFFF.
    public init(clamping duration: Duration) {
        rawValue = UInt32(clamping: max(4, min(0xFF_FFFF, duration.nanoseconds / 625_000)))
    }

    /// The time as a `Duration`.
    public var duration: Duration { .microseconds(Int64(rawValue) * 625) }

    @inlinable
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

extension ConnectionInterval: HCIParameter {}
extension SupervisionTimeout: HCIParameter {}

/// The 16-bit form; a longer time is clamped to the maximum of the field.
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
