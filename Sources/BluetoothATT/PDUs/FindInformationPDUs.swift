import BluetoothBase

/// ATT_FIND_INFORMATION_REQ (Core 5.4, Vol 3, Part F, 3.4.3.1): finds the handles and types of attributes.
public struct FindInformationRequest: ATTPDU, Equatable, Sendable {
    /// The opcode of ATT_FIND_INFORMATION_REQ: 0x04.
    public static var opcode: ATTOpcode { .findInformationRequest }

    /// The first handle of the range to search.
    public var startingHandle: AttributeHandle
    /// The last handle of the range to search, inclusive.
    public var endingHandle: AttributeHandle

    /// Creates a request for a range of handles, which is not checked; see `handles`.
    @inlinable
    public init(startingHandle: AttributeHandle, endingHandle: AttributeHandle) {
        self.startingHandle = startingHandle
        self.endingHandle = endingHandle
    }

    /// The requested handles; nil if the server must respond with Invalid Handle.
    @inlinable
    public var handles: ClosedRange<AttributeHandle>? { AttributeHandle.range(from: startingHandle, to: endingHandle) }

    /// Decodes the two handles. Throws unless there are exactly four octets.
    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        startingHandle = try parameters.readHandle()
        endingHandle = try parameters.readHandle()
        try parameters.finish()
    }

    /// Appends the two handles.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(startingHandle)
        writer.append(endingHandle)
    }
}

/// ATT_FIND_INFORMATION_RSP (Core 5.4, Vol 3, Part F, 3.4.3.2): handles with the types of their attributes, all types
/// of the same length.
public struct FindInformationResponse: ATTPDU, ~Escapable {
    /// The opcode of ATT_FIND_INFORMATION_RSP: 0x05.
    public static var opcode: ATTOpcode { .findInformationResponse }

    /// The length of the types in the list.
    public enum Format: UInt8, Sendable {
        /// Handles and 16-bit UUIDs.
        case uuid16 = 0x01
        /// Handles and 128-bit UUIDs.
        case uuid128 = 0x02

        /// The format of a list that starts with an attribute of type `uuid`.
        @inlinable
        public init(for uuid: BluetoothUUID) { self = uuid.uint16 == nil ? .uuid128 : .uuid16 }

        /// The length of a UUID, in octets.
        @inlinable
        public var uuidLength: Int { self == .uuid16 ? 2 : 16 }

        /// The length of a handle and a UUID together, in octets.
        @inlinable
        public var elementLength: Int { 2 &+ uuidLength }
    }

    /// The length of the types in `informationData`: all 16-bit or all 128-bit UUIDs.
    public var format: Format
    /// Elements of `format.elementLength` octets, as encoded in the PDU.
    public var informationData: Span<UInt8>

    /// Creates a response from a list that is already encoded, and refers to its memory. The list is not checked.
    @inlinable
    @_lifetime(copy informationData)
    public init(format: Format, informationData: Span<UInt8>) {
        self.format = format
        self.informationData = informationData
    }

    /// Decodes the format and the list. Throws if the format is reserved, or unless the list consists of one or more
    /// complete elements.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        let formatOffset = parameters.offset
        guard let format = Format(rawValue: try parameters.readUInt8()) else {
            throw DecodingFailure(.invalidValue, at: formatOffset)
        }
        self.format = format
        informationData = try parameters.readList(stride: format.elementLength)
    }

    /// Appends the format octet and the list as it is encoded.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(format.rawValue)
        writer.append(informationData)
    }
}

// MARK: - The list

extension FindInformationResponse {
    /// An attribute's handle and its type.
    public struct Element: Equatable, Sendable {
        /// The handle of the attribute.
        public var handle: AttributeHandle
        /// The type of the attribute, sent as a 16-bit or a 128-bit UUID.
        public var type: BluetoothUUID

        @inlinable
        init(handle: AttributeHandle, type: BluetoothUUID) {
            self.handle = handle
            self.type = type
        }
    }

    /// Reads the elements one at a time from the bytes of the PDU.
    public struct Iterator: ~Escapable {
        @usableFromInline var reader: ByteReader
        @usableFromInline let uuidLength: Int

        @inlinable
        @_lifetime(copy response)
        init(_ response: borrowing FindInformationResponse) {
            reader = ByteReader(response.informationData)
            uuidLength = response.format.uuidLength
        }

        /// The next element; nil after the last one.
        @inlinable
        @_lifetime(self: copy self)
        public mutating func next() -> Element? {
            guard let handle = try? reader.readHandle(), let type = try? reader.readUUID(length: uuidLength) else {
                return nil
            }
            return Element(handle: handle, type: type)
        }
    }

    /// An iterator over the elements, which reads the memory of the response.
    @inlinable
    @_lifetime(copy self)
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Starts a response that is written in place, with the opcode and the format. Add elements with `append`.
    @inlinable
    public static func begin(format: Format, into writer: inout ByteWriter) {
        begin(into: &writer)
        writer.append(format.rawValue)
    }

    /// Appends an element to a response that was started with the format of `type`.
    @inlinable
    public static func append(handle: AttributeHandle, type: BluetoothUUID, into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(type)
    }
}
