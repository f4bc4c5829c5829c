import BluetoothBase

/// ATT_READ_BY_GROUP_TYPE_REQ (Core 5.4, Vol 3, Part F, 3.4.4.9): reads the attributes that start groups of a type.
public struct ReadByGroupTypeRequest: ATTPDU, Equatable, Sendable {
    /// The opcode of ATT_READ_BY_GROUP_TYPE_REQ: 0x10.
    public static var opcode: ATTOpcode { .readByGroupTypeRequest }

    /// The first handle of the range to read.
    public var startingHandle: AttributeHandle
    /// The last handle of the range to read, inclusive.
    public var endingHandle: AttributeHandle
    /// The grouping attribute type, such as Primary Service. It is sent in 2 or 16 octets.
    public var attributeGroupType: BluetoothUUID

    /// Creates a request for a range of handles, which is not checked; see `handles`.
    @inlinable
    public init(startingHandle: AttributeHandle, endingHandle: AttributeHandle, attributeGroupType: BluetoothUUID) {
        self.startingHandle = startingHandle
        self.endingHandle = endingHandle
        self.attributeGroupType = attributeGroupType
    }

    /// The requested handles; nil if the server must respond with Invalid Handle.
    @inlinable
    public var handles: ClosedRange<AttributeHandle>? { AttributeHandle.range(from: startingHandle, to: endingHandle) }

    /// Decodes the handles and the group type. Throws unless the type has 2 or 16 octets.
    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        startingHandle = try parameters.readHandle()
        endingHandle = try parameters.readHandle()
        attributeGroupType = try parameters.readRemainingUUID()
    }

    /// Appends the two handles and the group type.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(startingHandle)
        writer.append(endingHandle)
        writer.append(attributeGroupType)
    }
}

/// ATT_READ_BY_GROUP_TYPE_RSP (Core 5.4, Vol 3, Part F, 3.4.4.10): ranges of handles with the values of the attributes
/// that start them, all values of the same length.
public struct ReadByGroupTypeResponse: ATTPDU, ~Escapable {
    /// The opcode of ATT_READ_BY_GROUP_TYPE_RSP: 0x11.
    public static var opcode: ATTOpcode { .readByGroupTypeResponse }

    /// The length of two handles and a value together, in octets: at least 4.
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

    /// Decodes the element length and the list. Throws if the length is less than 4, or unless the list consists of one
    /// or more complete elements.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        let lengthOffset = parameters.offset
        elementLength = try parameters.readUInt8()
        guard elementLength >= 4 else { throw DecodingFailure(.invalidLength, at: lengthOffset) }
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

extension ReadByGroupTypeResponse {
    /// A group: its first handle, its last, and the value of the attribute that starts it.
    public struct Element: ~Escapable {
        /// The first handle of the group: that of the attribute that starts it.
        public var handle: AttributeHandle
        /// The last handle of the group, inclusive.
        public var endGroupHandle: AttributeHandle
        /// The value of the attribute that starts the group: for a service, its UUID. The server may have truncated it.
        public var value: Span<UInt8>

        @inlinable
        @_lifetime(copy value)
        init(handle: AttributeHandle, endGroupHandle: AttributeHandle, value: Span<UInt8>) {
            self.handle = handle
            self.endGroupHandle = endGroupHandle
            self.value = value
        }
    }

    /// Reads the elements one at a time from the bytes of the PDU.
    public struct Iterator: ~Escapable {
        @usableFromInline var reader: ByteReader
        @usableFromInline let valueLength: Int

        @inlinable
        @_lifetime(copy response)
        init(_ response: borrowing ReadByGroupTypeResponse) {
            reader = ByteReader(response.attributeDataList)
            valueLength = Int(response.elementLength) &- 4
        }

        /// The next element; nil after the last one.
        @inlinable
        @_lifetime(copy self)
        @_lifetime(self: copy self)
        public mutating func next() -> Element? {
            do {
                return Element(
                    handle: try reader.readHandle(), endGroupHandle: try reader.readHandle(),
                    value: try reader.readBytes(valueLength))
            } catch {
                return nil
            }
        }
    }

    /// An iterator over the elements, which reads the memory of the response.
    @inlinable
    @_lifetime(copy self)
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Starts a response that is written in place, with the opcode and the length of an element, including handles. Add
    /// elements with `append`.
    @inlinable
    public static func begin(elementLength: UInt8, into writer: inout ByteWriter) {
        begin(into: &writer)
        writer.append(elementLength)
    }

    /// Appends an element to a response that was started with the length of this one.
    @inlinable
    public static func append(
        handle: AttributeHandle, endGroupHandle: AttributeHandle, value: Span<UInt8>, into writer: inout ByteWriter
    ) {
        writer.append(handle)
        writer.append(endGroupHandle)
        writer.append(value)
    }
}
