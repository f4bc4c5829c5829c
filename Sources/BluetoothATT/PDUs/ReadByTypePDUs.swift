import BluetoothBase

/// ATT_READ_BY_TYPE_REQ (Core 5.4, Vol 3, Part F, 3.4.4.1): reads the attributes of a type whose handles are unknown.
public struct ReadByTypeRequest: ATTPDU, Equatable, Sendable {
    /// The opcode of ATT_READ_BY_TYPE_REQ: 0x08.
    public static var opcode: ATTOpcode { .readByTypeRequest }

    /// The first handle of the range to read.
    public var startingHandle: AttributeHandle
    /// The last handle of the range to read, inclusive.
    public var endingHandle: AttributeHandle
    /// The type of the attributes to read. It is sent in 2 or 16 octets.
    public var attributeType: BluetoothUUID

    /// Creates a request for a range of handles, which is not checked; see `handles`.
    @inlinable
    public init(startingHandle: AttributeHandle, endingHandle: AttributeHandle, attributeType: BluetoothUUID) {
        self.startingHandle = startingHandle
        self.endingHandle = endingHandle
        self.attributeType = attributeType
    }

    /// The requested handles; nil if the server must respond with Invalid Handle.
    @inlinable
    public var handles: ClosedRange<AttributeHandle>? { AttributeHandle.range(from: startingHandle, to: endingHandle) }

    /// Decodes the handles and the type. Throws unless the type has 2 or 16 octets.
    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        startingHandle = try parameters.readHandle()
        endingHandle = try parameters.readHandle()
        attributeType = try parameters.readRemainingUUID()
    }

    /// Appends the two handles and the type.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(startingHandle)
        writer.append(endingHandle)
        writer.append(attributeType)
    }
}

/// ATT_READ_BY_TYPE_RSP (Core 5.4, Vol 3, Part F, 3.4.4.2): handles and values, all values of the same length.
public struct ReadByTypeResponse: ATTPDU, ~Escapable {
    /// The opcode of ATT_READ_BY_TYPE_RSP: 0x09.
    public static var opcode: ATTOpcode { .readByTypeResponse }

    /// The length of a handle and a value together, in octets: at least 2.
    public var elementLength: UInt8
    /// Elements of `elementLength` octets, as encoded in the PDU.
    public var attributeDataList: Span<UInt8>

    /// Creates a response from a list that is already encoded, and refers to its memory. The list is not checked.
    @inlinable
    @_lifetime(copy attributeDataList)
    public init(elementLength: UInt8, attributeDataList: Span<UInt8>) {
        self.elementLength = elementLength
        self.attributeDataList = attributeDataList
    }

    /// Decodes the element length and the list. Throws if the length is less than 2, or unless the list consists of one
    /// or more complete elements.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        let lengthOffset = parameters.offset
        elementLength = try parameters.readUInt8()
        guard elementLength >= 2 else { throw DecodingFailure(.invalidLength, at: lengthOffset) }
        attributeDataList = try parameters.readList(stride: Int(elementLength))
    }

    /// Appends the element length and the list as it is encoded.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(elementLength)
        writer.append(attributeDataList)
    }
}

// MARK: - The list

extension ReadByTypeResponse {
    /// An attribute's handle and value.
    public struct Element: ~Escapable {
        /// The handle of the attribute.
        public var handle: AttributeHandle
        /// The value of the attribute. The server may have truncated it to fit the PDU.
        public var value: Span<UInt8>

        @inlinable
        @_lifetime(copy value)
        init(handle: AttributeHandle, value: Span<UInt8>) {
            self.handle = handle
            self.value = value
        }
    }

    /// Reads the elements one at a time from the bytes of the PDU.
    public struct Iterator: ~Escapable {
        @usableFromInline var reader: ByteReader
        @usableFromInline let valueLength: Int

        @inlinable
        @_lifetime(copy response)
        init(_ response: borrowing ReadByTypeResponse) {
            reader = ByteReader(response.attributeDataList)
            valueLength = Int(response.elementLength) &- 2
        }

        /// The next element; nil after the last one.
        @inlinable
        @_lifetime(copy self)
        @_lifetime(self: copy self)
        public mutating func next() -> Element? {
            do {
                return Element(handle: try reader.readHandle(), value: try reader.readBytes(valueLength))
            } catch {
                return nil
            }
        }
    }

    /// An iterator over the elements, which reads the memory of the response.
    @inlinable
    @_lifetime(copy self)
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Starts a response that is written in place, with the opcode and the length of an element, including the handle.
    /// Add elements with `append`.
    @inlinable
    public static func begin(elementLength: UInt8, into writer: inout ByteWriter) {
        begin(into: &writer)
        writer.append(elementLength)
    }

    /// Appends an element to a response that was started with the length of this one.
    @inlinable
    public static func append(handle: AttributeHandle, value: Span<UInt8>, into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(value)
    }
}

extension ByteReader {
    /// Reads the rest as a UUID of 2 or 16 octets, the lengths that ATT allows (Vol 3, Part F, 3.2.1).
    @inlinable
    @_lifetime(self: copy self)
    mutating func readRemainingUUID() throws(DecodingFailure) -> BluetoothUUID {
        switch remaining {
        case ...2: return try readUUID(length: 2)
        case 16: return try readUUID(length: 16)
        default: throw DecodingFailure(.invalidLength, at: offset)
        }
    }
}
