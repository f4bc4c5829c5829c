import BluetoothBase

/// LE Set Scan Parameters (Core 5.4, Vol 4, Part E, 7.8.10).
public struct LESetScanParameters: HCICommand {
    public static let opcode = HCIOpcode.leSetScanParameters
    /// Whether to send scan requests.
    public var type: LEScanType
    /// From the start of one scan window to the start of the next, 0x0004 (2.5 ms) to 0x4000 (10.24 s).
    public var interval: LESlots
    /// How long to listen in each interval, 0x0004 (2.5 ms) to 0x4000 (10.24 s); at most the interval.
    public var window: LESlots
    /// The address to send scan requests with.
    public var ownAddressType: OwnAddressType
    /// Which advertisements to report.
    public var filterPolicy: ScanningFilterPolicy

    public init(
        type: LEScanType,
        interval: LESlots = .init(rawValue: 0x10),
        window: LESlots = .init(rawValue: 0x10),
        ownAddressType: OwnAddressType = .public,
        filterPolicy: ScanningFilterPolicy = .all
    ) {
        self.type = type
        self.interval = interval
        self.window = window
        self.ownAddressType = ownAddressType
        self.filterPolicy = filterPolicy
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (type, interval, window, ownAddressType, filterPolicy) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: type, interval, window, ownAddressType, filterPolicy)
    }
}

/// LE Set Scan Enable (Core 5.4, Vol 4, Part E, 7.8.11).
public struct LESetScanEnable: HCICommand {
    public static let opcode = HCIOpcode.leSetScanEnable
    /// Whether to scan.
    public var isEnabled: Bool
    /// Whether to report each advertiser only once.
    public var filterDuplicates: Bool

    public init(isEnabled: Bool, filterDuplicates: Bool = false) {
        self.isEnabled = isEnabled
        self.filterDuplicates = filterDuplicates
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (isEnabled, filterDuplicates) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: isEnabled, filterDuplicates)
    }
}
