import BluetoothBase

/// A command, return or event parameter of fixed length. Structures list their parameters in the order of the
/// specification, once for decoding and once for encoding. This protocol handles the octets.
protocol HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure)
    func encode(into writer: inout ByteWriter)
}

extension ByteReader {
    /// Reads one parameter, whose type is inferred.
    @_lifetime(self: copy self)
    mutating func read<Value: HCIParameter>() throws(DecodingFailure) -> Value {
        try Value(decoding: &self)
    }

    /// Reads several parameters in order: `(status, connectionHandle, reason) = try reader.read()`.
    @_lifetime(self: copy self)
    mutating func read<each Value: HCIParameter>() throws(DecodingFailure) -> (repeat each Value) {
        (repeat try (each Value)(decoding: &self))
    }
}

extension ByteWriter {
    /// Appends parameters in order.
    mutating func append<each Value: HCIParameter>(parameters values: repeat each Value) {
        repeat (each values).encode(into: &self)
    }
}

// MARK: - Integers

extension UInt8: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) { self = try reader.readUInt8() }
    func encode(into writer: inout ByteWriter) { writer.append(self) }
}

extension Int8: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) { self = try reader.readInt8() }
    func encode(into writer: inout ByteWriter) { writer.append(self) }
}

extension UInt16: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) { self = try reader.readUInt16() }
    func encode(into writer: inout ByteWriter) { writer.append(self) }
}

extension UInt64: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) { self = try reader.readUInt64() }
    func encode(into writer: inout ByteWriter) { writer.append(self) }
}

/// A 128-bit key or block, least significant octet first (Core 5.4, Vol 4, Part E, 7.8.22).
extension UInt128: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        let low = try reader.readUInt64()
        self = UInt128(try reader.readUInt64()) << 64 | UInt128(low)
    }
    func encode(into writer: inout ByteWriter) { writer.append(self) }
}

extension Bool: HCIParameter {
    /// The specification allows only 0x00 and 0x01 for flags.
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        switch try reader.readUInt8() {
        case 0: self = false
        case 1: self = true
        default: throw DecodingFailure(.invalidValue, at: reader.offset - 1)
        }
    }
    func encode(into writer: inout ByteWriter) { writer.append(UInt8(self ? 1 : 0)) }
}

// MARK: - Enumerations and option sets

extension HCIParameter where Self: RawRepresentable, RawValue: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        let offset = reader.offset
        guard let value = Self(rawValue: try reader.read()) else { throw DecodingFailure(.invalidValue, at: offset) }
        self = value
    }
    func encode(into writer: inout ByteWriter) { rawValue.encode(into: &writer) }
}

// MARK: - Addresses

/// An address type octet and the address.
extension DeviceAddress: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) { self = try reader.readTypedAddress() }
    func encode(into writer: inout ByteWriter) { writer.appendTyped(self) }
}

/// An address type octet and the address. The type 0xFF stands for an anonymous advertiser, which has no address.
extension DeviceAddress?: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        guard reader.remaining > 0, reader.bytes[reader.offset] == 0xFF else {
            self = try reader.readTypedAddress()
            return
        }
        _ = try reader.readBytes(7)
        self = nil
    }

    func encode(into writer: inout ByteWriter) {
        if let self { return writer.appendTyped(self) }
        writer.append(UInt8(0xFF))
        writer.append(0, byteCount: 6)
    }
}
