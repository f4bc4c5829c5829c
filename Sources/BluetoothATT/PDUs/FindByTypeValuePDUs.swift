import BluetoothBase

/// ATT_FIND_BY_TYPE_VALUE_REQ (Core 5.4, Vol 3, Part F, 3.4.3.3): which attributes of a type have a value.
public struct FindByTypeValueRequest: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .findByTypeValueRequest }

    public var startingHandle: AttributeHandle
    public var endingHandle: AttributeHandle
    /// The attribute type; this request carries only 16-bit UUIDs.
    public var attributeType: UInt16
    public var attributeValue: Span<UInt8>

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

    /// The requested handles; nil if the server must answer Invalid Handle.
    @inlinable
    public var handles: ClosedRange<AttributeHandle>? { AttributeHandle.range(from: startingHandle, to: endingHandle) }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        startingHandle = try parameters.readHandle()
        endingHandle = try parameters.readHandle()
        attributeType = try parameters.readUInt16()
        attributeValue = parameters.readRemaining()
    }

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
    public static var opcode: ATTOpcode { .findByTypeValueResponse }

    /// How many octets an element takes.
    @inlinable public static var elementLength: Int { 4 }

    /// Elements of four octets, as encoded in the PDU.
    public var handlesInformationList: Span<UInt8>

    @inlinable
    @_lifetime(copy handlesInformationList)
    public init(handlesInformationList: Span<UInt8>) {
        self.handlesInformationList = handlesInformationList
    }

    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handlesInformationList = try parameters.readList(stride: Self.elementLength)
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handlesInformationList)
    }
}

// MARK: - The list

extension FindByTypeValueResponse {
    /// An attribute that was found, and the last handle of the group it starts.
    public struct Element: Equatable, Sendable {
        public var foundHandle: AttributeHandle
        /// Equal to `foundHandle` if the attribute starts no group.
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
