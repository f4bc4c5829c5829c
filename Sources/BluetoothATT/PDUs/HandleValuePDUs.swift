import BluetoothBase

/// ATT_HANDLE_VALUE_NTF (Core 5.4, Vol 3, Part F, 3.4.7.1).
public struct HandleValueNotification: ATTPDU, ~Escapable {
    /// The opcode of ATT_HANDLE_VALUE_NTF: 0x1B.
    public static var opcode: ATTOpcode { .handleValueNotification }
    /// The length of the opcode and the handle, in octets.
    @inlinable public static var headerLength: Int { 3 }

    /// The handle of the attribute.
    public var handle: AttributeHandle
    /// The value, at most ATT_MTU - 3 octets. It may be empty.
    public var value: Span<UInt8>

    /// Creates a notification, which refers to the memory of `value`.
    @inlinable
    @_lifetime(copy value)
    public init(handle: AttributeHandle, value: Span<UInt8>) {
        self.handle = handle
        self.value = value
    }

    /// Decodes the handle; the rest is the value. Throws if there are fewer than two octets.
    @inlinable @inline(__always)
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        value = parameters.readRemaining()
    }

    /// Appends the handle and the value.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(value)
    }

    /// Appends the whole PDU in one step, because no PDU is sent more often.
    @inlinable @inline(__always)
    public func encode(into writer: inout ByteWriter) { encode(into: &writer, headroom: 0) }

    /// Appends the whole PDU after `headroom` octets, at most 5, which the caller overwrites.
    @inlinable @inline(__always)
    public func encode(into writer: inout ByteWriter, headroom: Int) {
        let header = UInt64(Self.opcode.rawValue) | UInt64(handle.rawValue) << 8
        writer.append(header &<< UInt64(8 &* headroom), byteCount: Self.headerLength &+ headroom, then: value)
    }
}

/// ATT_HANDLE_VALUE_IND (Core 5.4, Vol 3, Part F, 3.4.7.2).
public struct HandleValueIndication: ATTPDU, ~Escapable {
    /// The opcode of ATT_HANDLE_VALUE_IND: 0x1D.
    public static var opcode: ATTOpcode { .handleValueIndication }

    /// The handle of the attribute.
    public var handle: AttributeHandle
    /// The value, at most ATT_MTU - 3 octets. It may be empty.
    public var value: Span<UInt8>

    /// Creates an indication, which refers to the memory of `value`.
    @inlinable
    @_lifetime(copy value)
    public init(handle: AttributeHandle, value: Span<UInt8>) {
        self.handle = handle
        self.value = value
    }

    /// Decodes the handle; the rest is the value. Throws if there are fewer than two octets.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        handle = try parameters.readHandle()
        value = parameters.readRemaining()
    }

    /// Appends the handle and the value.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handle)
        writer.append(value)
    }
}

/// ATT_HANDLE_VALUE_CFM (Core 5.4, Vol 3, Part F, 3.4.7.3).
public struct HandleValueConfirmation: ATTParameterlessPDU {
    /// The opcode of ATT_HANDLE_VALUE_CFM: 0x1E.
    public static var opcode: ATTOpcode { .handleValueConfirmation }

    /// Creates a confirmation, which has no parameters.
    @inlinable
    public init() {}
}

/// ATT_MULTIPLE_HANDLE_VALUE_NTF (Core 5.4, Vol 3, Part F, 3.4.7.4): several notifications in one PDU.
public struct MultipleHandleValueNotification: ATTPDU, ~Escapable {
    /// The opcode of ATT_MULTIPLE_HANDLE_VALUE_NTF: 0x23.
    public static var opcode: ATTOpcode { .multipleHandleValueNotification }

    /// Tuples of a handle, a two-octet length and a value, as encoded in the PDU.
    public var handleLengthValueTupleList: Span<UInt8>

    /// Creates a notification from a list that is already encoded, and refers to its memory. The list is not checked.
    @inlinable
    @_lifetime(copy handleLengthValueTupleList)
    public init(handleLengthValueTupleList: Span<UInt8>) {
        self.handleLengthValueTupleList = handleLengthValueTupleList
    }

    /// Decodes the tuples. Throws if the last one is incomplete: unlike a response, this PDU is never truncated. A
    /// single tuple is accepted, although a server should send two or more.
    @inlinable
    @_lifetime(copy parameters)
    public init(decoding parameters: consuming ByteReader) throws(DecodingFailure) {
        let start = parameters.offset
        repeat {
            _ = try parameters.readHandle()
            let length = Int(try parameters.readUInt16())
            guard length <= parameters.remaining else {
                throw DecodingFailure(.invalidLength, at: parameters.offset &- 2)
            }
            parameters.offset &+= length
        } while parameters.remaining > 0
        handleLengthValueTupleList = parameters.bytes.extracting(start..<parameters.offset)
    }

    /// Appends the list as it is encoded.
    @inlinable
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(handleLengthValueTupleList)
    }
}

// MARK: - The list

extension MultipleHandleValueNotification {
    /// Reads the notifications one at a time from the bytes of the PDU.
    public struct Iterator: ~Escapable {
        @usableFromInline var reader: ByteReader

        @inlinable
        @_lifetime(copy notification)
        init(_ notification: borrowing MultipleHandleValueNotification) {
            reader = ByteReader(notification.handleLengthValueTupleList)
        }

        /// The next notification; nil after the last one.
        @inlinable
        @_lifetime(copy self)
        @_lifetime(self: copy self)
        public mutating func next() -> HandleValueNotification? {
            do {
                let handle = try reader.readHandle()
                let length = Int(try reader.readUInt16())
                return HandleValueNotification(handle: handle, value: try reader.readBytes(length))
            } catch {
                return nil
            }
        }
    }

    /// An iterator over the notifications, which reads the memory of the PDU.
    @inlinable
    @_lifetime(copy self)
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Appends a tuple to a notification that is written in place after `begin(into:)`. A value too long for its length
    /// field is truncated.
    @inlinable
    public static func append(handle: AttributeHandle, value: Span<UInt8>, into writer: inout ByteWriter) {
        let length = UInt16(clamping: value.count)
        writer.append(handle)
        writer.append(length)
        writer.append(value.extracting(first: Int(length)))
    }
}
