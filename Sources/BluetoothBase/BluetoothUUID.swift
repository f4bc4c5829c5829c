/// A Bluetooth UUID (Core 5.4, Vol 3, Part B, 2.5.1).
///
/// Stored as the full 128-bit value: `180D` and `0000180D-0000-1000-8000-00805F9B34FB` are equal.
public struct BluetoothUUID: Hashable, Sendable {
    /// The upper 64 bits, which the text form shows first.
    public let high: UInt64
    /// The lower 64 bits.
    public let low: UInt64

    /// The lower 64 bits of the Bluetooth Base UUID, `00000000-0000-1000-8000-00805F9B34FB`.
    @inlinable static var baseLow: UInt64 { 0x8000_0080_5F9B_34FB }
    /// The lower 32 bits of the Base UUID's upper half.
    @inlinable static var baseHigh: UInt64 { 0x1000 }

    /// Creates a UUID from the two halves of its 128-bit value.
    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates a 16-bit UUID assigned by the Bluetooth SIG.
    @inlinable
    public init(_ value: UInt16) {
        self.init(uint32: UInt32(value))
    }

    /// Creates a 32-bit UUID assigned by the Bluetooth SIG.
    @inlinable
    public init(uint32 value: UInt32) {
        high = UInt64(value) << 32 | Self.baseHigh
        low = Self.baseLow
    }

    /// The value of a 16- or 32-bit UUID; nil if the UUID is not built on the Bluetooth Base UUID.
    @inlinable
    public var shortValue: UInt32? {
        guard low == Self.baseLow, high & 0xFFFF_FFFF == Self.baseHigh else { return nil }
        return UInt32(truncatingIfNeeded: high >> 32)
    }

    /// The 16-bit form, if any.
    @inlinable
    public var uint16: UInt16? {
        shortValue.flatMap(UInt16.init(exactly:))
    }

    /// The length of the UUID in an ATT PDU, in octets: 2 if it has a 16-bit form, otherwise 16 (Vol 3, Part F, 3.2.1:
    /// 32-bit UUIDs are sent as 128-bit ones).
    @inlinable
    public var attLength: Int { uint16 == nil ? 16 : 2 }
}

// MARK: - Bytes

extension ByteReader {
    /// Reads a UUID of 2, 4 or 16 octets.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func readUUID(length: Int) throws(DecodingFailure) -> BluetoothUUID {
        switch length {
        case 2: return BluetoothUUID(try readUInt16())
        case 4: return BluetoothUUID(uint32: try readUInt32())
        case 16:
            let low = try readUInt64()
            return BluetoothUUID(high: try readUInt64(), low: low)
        default: throw DecodingFailure(.invalidLength, at: offset)
        }
    }
}

extension ByteWriter {
    /// Appends a UUID as ATT carries it: 2 octets if it has a 16-bit form, otherwise 16.
    @inlinable
    public mutating func append(_ uuid: BluetoothUUID) {
        if let short = uuid.uint16 { append(short) } else { appendFull(uuid) }
    }

    /// Appends all 16 octets of a UUID.
    @inlinable
    public mutating func appendFull(_ uuid: BluetoothUUID) {
        append(uuid.low)
        append(uuid.high)
    }
}

// MARK: - Text

extension BluetoothUUID: LosslessStringConvertible {
    /// Reads `180D`, `0000180D` or `0000180D-0000-1000-8000-00805F9B34FB`, in either case.
    public init?(_ text: String) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        switch (text.utf8.count, digits.count) {
        case (4, 4), (8, 8):
            guard let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
                digits.allSatisfy(\.isHexDigit)
            else { return nil }
            self.init(uint32: value)
        case (36, 32):
            let hyphens = text.utf8.enumerated().filter { $0.element == UInt8(ascii: "-") }.map(\.offset)
            guard hyphens == [8, 13, 18, 23], digits.allSatisfy(\.isHexDigit),
                let high = UInt64(String(decoding: digits.prefix(16), as: UTF8.self), radix: 16),
                let low = UInt64(String(decoding: digits.suffix(16), as: UTF8.self), radix: 16)
            else { return nil }
            self.init(high: high, low: low)
        default: return nil
        }
    }

    /// The shortest text form: 4 or 8 hexadecimal digits if the UUID has a short form, otherwise 36 characters.
    public var description: String {
        if let uint16 { return hexadecimal(UInt64(uint16), digits: 4) }
        if let shortValue { return hexadecimal(UInt64(shortValue), digits: 8) }
        let high = hexadecimal(self.high, digits: 16), low = hexadecimal(self.low, digits: 16)
        return [high.prefix(8), high.dropFirst(8).prefix(4), high.suffix(4), low.prefix(4), low.suffix(12)]
            .joined(separator: "-")
    }
}

extension BluetoothUUID: ExpressibleByStringLiteral {
    /// Creates a UUID from a literal. A malformed literal is a programming error and traps; use `init?(_:)` for
    /// external text.
    public init(stringLiteral text: String) {
        guard let uuid = BluetoothUUID(text) else { preconditionFailure("malformed Bluetooth UUID literal: \(text)") }
        self = uuid
    }
}
