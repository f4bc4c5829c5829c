import BluetoothBase

/// The handles a request lists, two or more: a view of the bytes they are encoded in.
public struct HandleList: ~Escapable {
    /// The handles as encoded in the PDU, two octets each.
    public var bytes: Span<UInt8>

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

    /// How many handles there are.
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

    @inlinable
    @_lifetime(copy self)
    public func makeIterator() -> Iterator { Iterator(bytes) }
}

/// ATT_READ_MULTIPLE_REQ (Core 5.4, Vol 3, Part F, 3.4.4.7): reads values whose lengths the client knows.
public struct ReadMultipleRequest: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .readMultipleRequest }

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

/// ATT_READ_MULTIPLE_RSP (Core 5.4, Vol 3, Part F, 3.4.4.8).
public struct ReadMultipleResponse: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .readMultipleResponse }

    /// The values one after the other, in the requested order, truncated at the end of the PDU.
    public var values: Span<UInt8>

    @inlinable
    @_lifetime(copy values)
    public init(values: Span<UInt8>) {
        self.values = values
    }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        values = parameters.readRemaining()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(values)
    }
}
