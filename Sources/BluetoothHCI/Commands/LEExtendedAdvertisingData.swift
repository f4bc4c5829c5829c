import BluetoothBase

/// LE Set Extended Advertising Data (Core 5.4, Vol 4, Part E, 7.8.54).
public struct LESetExtendedAdvertisingData: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0037.
    public static let opcode = HCIOpcode.leSetExtendedAdvertisingData
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The set's advertising data, or a fragment of it.
    public var fragment: AdvertisingDataFragment

    /// Creates the command for a set, with its complete data or one fragment.
    public init(advertisingHandle: AdvertisingHandle, fragment: AdvertisingDataFragment) {
        self.advertisingHandle = advertisingHandle
        self.fragment = fragment
    }

    /// Decodes the advertising handle and a fragment. Throws if octets are missing, if the operation is reserved, if
    /// the fragmentation preference is neither 0x00 nor 0x01, or if the length exceeds 251.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, fragment) = try parameters.read()
    }

    /// Appends the advertising handle, the operation, the fragmentation preference, the length and the data.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, fragment)
    }
}

/// LE Set Extended Scan Response Data (Core 5.4, Vol 4, Part E, 7.8.55).
public struct LESetExtendedScanResponseData: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0038.
    public static let opcode = HCIOpcode.leSetExtendedScanResponseData
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// The set's scan response data, or a fragment of it.
    public var fragment: AdvertisingDataFragment

    /// Creates the command for a set, with its complete data or one fragment.
    public init(advertisingHandle: AdvertisingHandle, fragment: AdvertisingDataFragment) {
        self.advertisingHandle = advertisingHandle
        self.fragment = fragment
    }

    /// Decodes the advertising handle and a fragment. Throws if octets are missing, if the operation is reserved, if
    /// the fragmentation preference is neither 0x00 nor 0x01, or if the length exceeds 251.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, fragment) = try parameters.read()
    }

    /// Appends the advertising handle, the operation, the fragmentation preference, the length and the data.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, fragment)
    }
}

/// A fragment of an advertising set's data that fits into one command.
public struct AdvertisingDataFragment: Hashable, Sendable {
    /// The position of the fragment in the data.
    public enum Operation: UInt8, Sendable {
        /// A fragment between the first and the last.
        case intermediate = 0
        /// The first of several fragments.
        case first = 1
        /// The last of several fragments.
        case last = 2
        /// The complete data in one command.
        case complete = 3
        /// Unchanged data. Only the set's Advertising DID changes.
        case unchanged = 4
    }

    /// The position of this fragment in the data.
    public var operation: Operation
    /// Whether to ask the controller to send the data in as few PDUs as possible.
    public var minimizesFragmentation: Bool
    /// The data, up to 251 octets. Further octets are not sent.
    public var data: [UInt8]

    /// Creates a fragment. By default, it is the complete data, sent in as few PDUs as possible.
    public init(operation: Operation = .complete, minimizesFragmentation: Bool = true, data: [UInt8]) {
        self.operation = operation
        self.minimizesFragmentation = minimizesFragmentation
        self.data = data
    }
}

extension AdvertisingDataFragment.Operation: HCIParameter {}

extension AdvertisingDataFragment: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        (operation, minimizesFragmentation) = try reader.read()
        let length = Int(try reader.readUInt8())
        guard length <= 251 else { throw DecodingFailure(.invalidLength, at: reader.offset - 1) }
        data = Array(try reader.readBytes(length))
    }

    func encode(into writer: inout ByteWriter) {
        let data = data.span.extracting(first: 251)
        writer.append(parameters: operation, minimizesFragmentation, UInt8(data.count))
        writer.append(data)
    }
}
