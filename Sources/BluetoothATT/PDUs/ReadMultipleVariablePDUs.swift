import BluetoothBase

/// ATT_READ_MULTIPLE_VARIABLE_REQ (Core 5.4, Vol 3, Part F, 3.4.4.11): reads values of unknown lengths.
public struct ReadMultipleVariableRequest: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .readMultipleVariableRequest }

    public var handles: HandleList

    @inlinable
    @_lifetime(copy handles)
    public init(handles: HandleList) {
        self.handles = handles
    }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handles = try HandleList(decoding: parameters)
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handles.bytes)
    }
}

/// ATT_READ_MULTIPLE_VARIABLE_RSP (Core 5.4, Vol 3, Part F, 3.4.4.12): the values, each preceded by its length.
///
/// A server cuts the list off where the PDU is full, in the middle of a tuple if need be, so that every sequence of
/// bytes is a valid list.
public struct ReadMultipleVariableResponse: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .readMultipleVariableResponse }

    /// Lengths of two octets and values, as encoded in the PDU.
    public var lengthValueTupleList: Span<UInt8>

    @inlinable
    @_lifetime(copy lengthValueTupleList)
    public init(lengthValueTupleList: Span<UInt8>) {
        self.lengthValueTupleList = lengthValueTupleList
    }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        lengthValueTupleList = parameters.readRemaining()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(lengthValueTupleList)
    }
}

// MARK: - The list

extension ReadMultipleVariableResponse {
    /// A value, and its length on the server.
    public struct Element: ~Escapable {
        /// The length of the whole value.
        public var valueLength: UInt16
        /// The value, or the part of it that fits into the PDU.
        public var value: Span<UInt8>

        /// Whether the end of the value is missing.
        @inlinable
        public var isTruncated: Bool { value.count < Int(valueLength) }

        @inlinable
        @_lifetime(copy value)
        init(valueLength: UInt16, value: Span<UInt8>) {
            self.valueLength = valueLength
            self.value = value
        }
    }

    /// Reads the elements one at a time from the bytes of the PDU.
    public struct Iterator: ~Escapable {
        @usableFromInline var reader: ByteReader

        @inlinable
        @_lifetime(copy response)
        init(_ response: borrowing ReadMultipleVariableResponse) {
            reader = ByteReader(response.lengthValueTupleList)
        }

        /// The next element; nil after the last one. An incomplete length ends the list.
        @inlinable
        @_lifetime(copy self)
        @_lifetime(self: copy self)
        public mutating func next() -> Element? {
            do {
                let length = try reader.readUInt16()
                return Element(valueLength: length, value: try reader.readBytes(min(Int(length), reader.remaining)))
            } catch {
                return nil
            }
        }
    }

    @inlinable
    @_lifetime(copy self)
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Appends a value to a response that is written in place after `begin(into:)`, truncated so that at most `space`
    /// octets are appended. A value too long for its length field is truncated as well.
    @inlinable
    public static func append(value: Span<UInt8>, space: Int, into writer: inout ByteWriter) {
        let length = UInt16(clamping: value.count)
        if space < 2 {
            if space == 1 { writer.append(UInt8(truncatingIfNeeded: length)) }
            return
        }
        writer.append(length)
        writer.append(value.extracting(first: min(Int(length), space &- 2)))
    }
}
