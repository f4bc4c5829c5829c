import BluetoothBase

/// ATT_FIND_INFORMATION_REQ (Core 5.4, Vol 3, Part F, 3.4.3.1): which attributes exist, and their types.
public struct FindInformationRequest: ATTPDU, Equatable, Sendable {
    public static var opcode: ATTOpcode { .findInformationRequest }

    public var startingHandle: AttributeHandle
    public var endingHandle: AttributeHandle

    @inlinable
    public init(startingHandle: AttributeHandle, endingHandle: AttributeHandle) {
        self.startingHandle = startingHandle
        self.endingHandle = endingHandle
    }

    /// The requested handles; nil if the server must answer Invalid Handle.
    @inlinable
    public var handles: ClosedRange<AttributeHandle>? { AttributeHandle.range(from: startingHandle, to: endingHandle) }

    @inlinable
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        startingHandle = try parameters.readHandle()
        endingHandle = try parameters.readHandle()
        try parameters.finish()
    }

    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(startingHandle)
        writer.append(endingHandle)
    }
}

/// ATT_FIND_INFORMATION_RSP (Core 5.4, Vol 3, Part F, 3.4.3.2): handles with the types of their attributes, all types
/// of the same length.
public struct FindInformationResponse: ATTPDU, ~Escapable {
    public static var opcode: ATTOpcode { .findInformationResponse }

    /// How long the types in the list are.
    public enum Format: UInt8, Sendable {
        /// Handles and 16-bit UUIDs.
        case uuid16 = 0x01
        /// Handles and 128-bit UUIDs.
        case uuid128 = 0x02

        /// The format that a list starting with an attribute of type `uuid` has.
        @inlinable
        public init(for uuid: BluetoothUUID) { self = uuid.uint16 == nil ? .uuid128 : .uuid16 }

        /// How many octets a UUID takes.
        @inlinable
        public var uuidLength: Int { self == .uuid16 ? 2 : 16 }

        /// How many octets a handle and a UUID take together.
        @inlinable
        public var elementLength: Int { 2 &+ uuidLength }
    }

    public var format: Format
    /// Elements of `format.elementLength` octets, as encoded in the PDU.
    public var informationData: Span<UInt8>

    @inlinable
    @_lifetime(copy informationData)
    public init(format: Format, informationData: Span<UInt8>) {
        self.format = format
        self.informationData = informationData
    }

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
        public var handle: AttributeHandle
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

    @inlinable
    @_lifetime(copy self)
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Starts a response that is written in place: the opcode and the format. Elements follow by `append`.
    @inlinable
    public static func begin(format: Format, into writer: inout ByteWriter) {
        begin(into: &writer)
        writer.append(format.rawValue)
    }

    /// Appends an element to a response begun with the format of `type`.
    @inlinable
    public static func append(handle: AttributeHandle, type: BluetoothUUID, into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(type)
    }
}
