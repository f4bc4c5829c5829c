import BluetoothBase

/// ATT_READ_MULTIPLE_VARIABLE_REQ (Core 5.4, Vol 3, Part F, 3.4.4.11): reads values of unknown lengths.
public struct ReadMultipleVariableRequest: ATTPDU, ~Escapable {
    /// The opcode of ATT_READ_MULTIPLE_VARIABLE_REQ: 0x20.
    public static var opcode: ATTOpcode { .readMultipleVariableRequest }

    /// The handles of the attributes to read, in the order in which the values are returned.
    public var handles: HandleList

    /// Creates a request, which refers to the memory of `handles`.
    @inlinable
    @_lifetime(copy handles)
    public init(handles: HandleList) {
        self.handles = handles
    }

    /// Decodes the handles. Throws unless there are two or more complete ones.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handles = try HandleList(decoding: parameters)
    }

    /// Appends the handles as they are encoded.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handles.bytes)
    }
}

/// ATT_READ_MULTIPLE_VARIABLE_RSP (Core 5.4, Vol 3, Part F, 3.4.4.12): the values, each preceded by its length.
///
/// A server truncates the list where the PDU is full, in the middle of a tuple if necessary, so every sequence of bytes
/// is a valid list.
public struct ReadMultipleVariableResponse: ATTPDU, ~Escapable {
    /// The opcode of ATT_READ_MULTIPLE_VARIABLE_RSP: 0x21.
    public static var opcode: ATTOpcode { .readMultipleVariableResponse }

    /// Tuples of a two-octet length and a value, as encoded in the PDU.
    public var lengthValueTupleList: Span<UInt8>

    /// Creates a response from a list that is already encoded, and refers to its memory.
    @inlinable
    @_lifetime(copy lengthValueTupleList)
    public init(lengthValueTupleList: Span<UInt8>) {
        self.lengthValueTupleList = lengthValueTupleList
    }

    /// Takes all octets as the list, because it may be truncated anywhere. Never throws.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        lengthValueTupleList = parameters.readRemaining()
    }

    /// Appends the list as it is encoded.
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

    /// An iterator over the elements, which reads the memory of the response.
    @inlinable
    @_lifetime(copy self)
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Appends a value to a response that is written in place after `begin(into:)`. The value is truncated so that at
    /// most `space` octets are appended, and also if it is too long for its length field.
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
