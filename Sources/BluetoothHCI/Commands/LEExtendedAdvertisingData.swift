import BluetoothBase

/// LE Set Extended Advertising Data (Core 5.4, Vol 4, Part E, 7.8.54).
public struct LESetExtendedAdvertisingData: HCICommand {
    public static let opcode = HCIOpcode.leSetExtendedAdvertisingData
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// All of the set's advertising data, or a part of it.
    public var fragment: AdvertisingDataFragment

    public init(advertisingHandle: AdvertisingHandle, fragment: AdvertisingDataFragment) {
        self.advertisingHandle = advertisingHandle
        self.fragment = fragment
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, fragment) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, fragment)
    }
}

/// LE Set Extended Scan Response Data (Core 5.4, Vol 4, Part E, 7.8.55).
public struct LESetExtendedScanResponseData: HCICommand {
    public static let opcode = HCIOpcode.leSetExtendedScanResponseData
    /// The advertising set.
    public var advertisingHandle: AdvertisingHandle
    /// All of the set's scan response data, or a part of it.
    public var fragment: AdvertisingDataFragment

    public init(advertisingHandle: AdvertisingHandle, fragment: AdvertisingDataFragment) {
        self.advertisingHandle = advertisingHandle
        self.fragment = fragment
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (advertisingHandle, fragment) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: advertisingHandle, fragment)
    }
}

/// A fragment of an advertising set's data, as much as fits into one command.
public struct AdvertisingDataFragment: Hashable, Sendable {
    /// The position of the fragment in the data.
    public enum Operation: UInt8, Sendable {
        /// A fragment between the first and the last.
        case intermediate = 0
        /// The first of several fragments.
        case first = 1
        /// The last of several fragments.
        case last = 2
        /// All of the data in one command.
        case complete = 3
        /// No data. Only the set's Advertising DID changes.
        case unchanged = 4
    }

    /// Which fragment this is.
    public var operation: Operation
    /// Asks the controller to send the data in as few PDUs as possible.
    public var minimizesFragmentation: Bool
    /// Up to 251 octets; anything beyond is not sent.
    public var data: [UInt8]

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
