import BluetoothBase

/// LE Set Scan Parameters (Core 5.4, Vol 4, Part E, 7.8.10).
public struct LESetScanParameters: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x000B.
    public static let opcode = HCIOpcode.leSetScanParameters
    /// Whether to send scan requests.
    public var type: LEScanType
    /// The time from the start of one scan window to the start of the next, 0x0004 (2.5 ms) to 0x4000 (10.24 s).
    public var interval: LESlots
    /// The time to listen in each interval, 0x0004 (2.5 ms) to 0x4000 (10.24 s); at most the scan interval.
    public var window: LESlots
    /// The type of this device's address to use in scan requests.
    public var ownAddressType: OwnAddressType
    /// The advertisements to report.
    public var filterPolicy: ScanningFilterPolicy

    /// Creates the command. By default, the scanner listens continuously: the interval and the window are both 10 ms.
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

    /// Decodes 7 octets of parameters. Throws if octets are missing, or if the scan type, the own address type or the
    /// filter policy is a reserved value.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (type, interval, window, ownAddressType, filterPolicy) = try parameters.read()
    }

    /// Appends the 7 octets of parameters. The interval and the window are clamped to 16 bits.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: type, interval, window, ownAddressType, filterPolicy)
    }
}

/// LE Set Scan Enable (Core 5.4, Vol 4, Part E, 7.8.11).
public struct LESetScanEnable: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x000C.
    public static let opcode = HCIOpcode.leSetScanEnable
    /// Whether to scan.
    public var isEnabled: Bool
    /// Whether to report each advertiser only once.
    public var filterDuplicates: Bool

    /// Creates the command. By default, duplicates are not filtered.
    public init(isEnabled: Bool, filterDuplicates: Bool = false) {
        self.isEnabled = isEnabled
        self.filterDuplicates = filterDuplicates
    }

    /// Decodes two octets of parameters. Throws if an octet is missing, or neither 0x00 nor 0x01.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (isEnabled, filterDuplicates) = try parameters.read()
    }

    /// Appends the two flags, one octet each.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: isEnabled, filterDuplicates)
    }
}
