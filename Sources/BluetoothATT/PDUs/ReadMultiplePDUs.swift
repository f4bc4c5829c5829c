import BluetoothBase

/// The handles in a request, two or more: a view of the bytes they are encoded in.
public struct HandleList: ~Escapable {
    /// The handles as encoded in the PDU, two octets each.
    public var bytes: Span<UInt8>

    /// Creates a list from handles that are already encoded, and refers to their memory. Their number is not checked.
    @inlinable
    @_lifetime(copy bytes)
    public init(bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    @inlinable
    @_lifetime(copy parameters)
    init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        bytes = try parameters.readList(stride: 2, minimum: 2)
    }

    /// The number of handles.
    @inlinable
    public var count: Int { bytes.count / 2 }

    /// Reads the handles one at a time from the bytes of the PDU.
    public struct Iterator: ~Escapable {
        @usableFromInline var reader: ByteReader

        @inlinable
        @_lifetime(copy bytes)
        init(_ bytes: Span<UInt8>) {
            reader = ByteReader(bytes)
        }

        /// The next handle; nil after the last one.
        @inlinable
        @_lifetime(self: copy self)
        public mutating func next() -> AttributeHandle? {
            try? reader.readHandle()
        }
    }

    /// An iterator over the handles, which reads the memory of the PDU.
    @inlinable
    @_lifetime(copy self)
    public func makeIterator() -> Iterator { Iterator(bytes) }
}

/// ATT_READ_MULTIPLE_REQ (Core 5.4, Vol 3, Part F, 3.4.4.7): reads values whose lengths the client knows.
public struct ReadMultipleRequest: ATTPDU, ~Escapable {
    /// The opcode of ATT_READ_MULTIPLE_REQ: 0x0E.
    public static var opcode: ATTOpcode { .readMultipleRequest }

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

/// ATT_READ_MULTIPLE_RSP (Core 5.4, Vol 3, Part F, 3.4.4.8).
public struct ReadMultipleResponse: ATTPDU, ~Escapable {
    /// The opcode of ATT_READ_MULTIPLE_RSP: 0x0F.
    public static var opcode: ATTOpcode { .readMultipleResponse }

    /// The values, concatenated in the requested order and truncated at the end of the PDU.
    public var values: Span<UInt8>

    /// Creates a response from the concatenated values, and refers to their memory.
    @inlinable
    @_lifetime(copy values)
    public init(values: Span<UInt8>) {
        self.values = values
    }

    /// Takes all octets as the values. Their boundaries are not part of the PDU. Never throws.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        values = parameters.readRemaining()
    }

    /// Appends the concatenated values.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(values)
    }
}
