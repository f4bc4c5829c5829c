import BluetoothBase

/// ATT_FIND_BY_TYPE_VALUE_REQ (Core 5.4, Vol 3, Part F, 3.4.3.3): finds the attributes with a type and a value.
public struct FindByTypeValueRequest: ATTPDU, ~Escapable {
    /// The opcode of ATT_FIND_BY_TYPE_VALUE_REQ: 0x06.
    public static var opcode: ATTOpcode { .findByTypeValueRequest }

    /// The first handle of the range to search.
    public var startingHandle: AttributeHandle
    /// The last handle of the range to search, inclusive.
    public var endingHandle: AttributeHandle
    /// The attribute type; this request carries only 16-bit UUIDs.
    public var attributeType: UInt16
    /// The value to find. It must match the whole attribute value.
    public var attributeValue: Span<UInt8>

    /// Creates a request for a range of handles, which is not checked; see `handles`.
    /// The request refers to the memory of `attributeValue`.
    @inlinable
    @_lifetime(copy attributeValue)
    public init(
        startingHandle: AttributeHandle, endingHandle: AttributeHandle, attributeType: UInt16,
        attributeValue: Span<UInt8>
    ) {
        self.startingHandle = startingHandle
        self.endingHandle = endingHandle
        self.attributeType = attributeType
        self.attributeValue = attributeValue
    }

    /// The requested handles; nil if the server must respond with Invalid Handle.
    @inlinable
    public var handles: ClosedRange<AttributeHandle>? { AttributeHandle.range(from: startingHandle, to: endingHandle) }

    /// Decodes the handles, the type and the value. Throws if there are fewer than six octets. The value may be empty.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        startingHandle = try parameters.readHandle()
        endingHandle = try parameters.readHandle()
        attributeType = try parameters.readUInt16()
        attributeValue = parameters.readRemaining()
    }

    /// Appends the two handles, the type and the value.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(startingHandle)
        writer.append(endingHandle)
        writer.append(attributeType)
        writer.append(attributeValue)
    }
}

/// ATT_FIND_BY_TYPE_VALUE_RSP (Core 5.4, Vol 3, Part F, 3.4.3.4): the groups started by the attributes found.
public struct FindByTypeValueResponse: ATTPDU, ~Escapable {
    /// The opcode of ATT_FIND_BY_TYPE_VALUE_RSP: 0x07.
    public static var opcode: ATTOpcode { .findByTypeValueResponse }

    /// The length of an element, in octets.
    @inlinable public static var elementLength: Int { 4 }

    /// Elements of four octets, as encoded in the PDU.
    public var handlesInformationList: Span<UInt8>

    /// Creates a response from a list that is already encoded, and refers to its memory. The list is not checked.
    @inlinable
    @_lifetime(copy handlesInformationList)
    public init(handlesInformationList: Span<UInt8>) {
        self.handlesInformationList = handlesInformationList
    }

    /// Decodes the list. Throws unless it consists of one or more complete elements of four octets.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handlesInformationList = try parameters.readList(stride: Self.elementLength)
    }

    /// Appends the list as it is encoded.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handlesInformationList)
    }
}

// MARK: - The list

extension FindByTypeValueResponse {
    /// An attribute that was found, and the last handle of the group it starts.
    public struct Element: Equatable, Sendable {
        /// The handle of the attribute that was found.
        public var foundHandle: AttributeHandle
        /// Equal to `foundHandle` if the attribute does not start a group.
        public var groupEndHandle: AttributeHandle

        @inlinable
        init(foundHandle: AttributeHandle, groupEndHandle: AttributeHandle) {
            self.foundHandle = foundHandle
            self.groupEndHandle = groupEndHandle
        }
    }

    /// Reads the elements one at a time from the bytes of the PDU.
    public struct Iterator: ~Escapable {
        @usableFromInline var reader: ByteReader

        @inlinable
        @_lifetime(copy response)
        init(_ response: borrowing FindByTypeValueResponse) {
            reader = ByteReader(response.handlesInformationList)
        }

        /// The next element; nil after the last one.
        @inlinable
        @_lifetime(self: copy self)
        public mutating func next() -> Element? {
            guard let found = try? reader.readHandle(), let end = try? reader.readHandle() else { return nil }
            return Element(foundHandle: found, groupEndHandle: end)
        }
    }

    /// An iterator over the elements, which reads the memory of the response.
    @inlinable
    @_lifetime(copy self)
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Appends an element to a response that is written in place after `begin(into:)`.
    @inlinable
    public static func append(
        foundHandle: AttributeHandle, groupEndHandle: AttributeHandle, into writer: inout ByteWriter
    ) {
        writer.append(foundHandle)
        writer.append(groupEndHandle)
    }
}
