import BluetoothBase

/// LE Set Extended Scan Parameters (Core 5.4, Vol 4, Part E, 7.8.64).
public struct LESetExtendedScanParameters: HCICommand {
    /// The scan parameters for one PHY.
    public struct PHYParameters: Hashable, Sendable {
        /// Whether to send scan requests.
        public var type: LEScanType
        /// The time from the start of one scan window to the start of the next, 0x0004 (2.5 ms) or more.
        public var interval: LESlots
        /// The time to listen in each interval, 0x0004 (2.5 ms) or more; at most the scan interval.
        public var window: LESlots

        /// Creates the parameters for one PHY. The window must not exceed the interval.
        public init(type: LEScanType, interval: LESlots, window: LESlots) {
            self.type = type
            self.interval = interval
            self.window = window
        }
    }

    /// The command's opcode: OGF 0x08, OCF 0x0041.
    public static let opcode = HCIOpcode.leSetExtendedScanParameters
    /// The type of this device's address to use in scan requests.
    public var ownAddressType: OwnAddressType
    /// The advertisements to report.
    public var filterPolicy: ScanningFilterPolicy
    /// Parameters for LE 1M; nil excludes this PHY.
    public var le1M: PHYParameters?
    /// Parameters for LE Coded; nil excludes this PHY.
    public var leCoded: PHYParameters?

    /// Creates the command. At least one PHY must have parameters.
    public init(
        ownAddressType: OwnAddressType = .public, filterPolicy: ScanningFilterPolicy = .all, le1M: PHYParameters?,
        leCoded: PHYParameters? = nil
    ) {
        self.ownAddressType = ownAddressType
        self.filterPolicy = filterPolicy
        self.le1M = le1M
        self.leCoded = leCoded
    }

    /// Decodes three octets, followed by five for each PHY. Throws if octets are missing, if the own address type, the
    /// filter policy or a scan type is reserved, or if a PHY is neither LE 1M nor LE Coded.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        let phys: LEPHYs
        (ownAddressType, filterPolicy, phys) = try parameters.read()
        guard phys.isSubset(of: [.le1M, .leCoded]) else {
            throw DecodingFailure(.invalidValue, at: parameters.offset - 1)
        }
        le1M = phys.contains(.le1M) ? try PHYParameters(decoding: &parameters) : nil
        leCoded = phys.contains(.leCoded) ? try PHYParameters(decoding: &parameters) : nil
    }

    /// Appends three octets, followed by five for each PHY that has parameters. Scan times are clamped to 16 bits.
    public func encodeParameters(into writer: inout ByteWriter) {
        var phys: LEPHYs = []
        if le1M != nil { phys.insert(.le1M) }
        if leCoded != nil { phys.insert(.leCoded) }
        writer.append(parameters: ownAddressType, filterPolicy, phys)
        le1M?.encode(into: &writer)
        leCoded?.encode(into: &writer)
    }
}

extension LESetExtendedScanParameters.PHYParameters: HCIParameter {
    init(decoding reader: inout ByteReader) throws(DecodingFailure) {
        (type, interval, window) = try reader.read()
    }

    func encode(into writer: inout ByteWriter) { writer.append(parameters: type, interval, window) }
}

/// LE Set Extended Scan Enable (Core 5.4, Vol 4, Part E, 7.8.65).
public struct LESetExtendedScanEnable: HCICommand {
    /// The command's opcode: OGF 0x08, OCF 0x0042.
    public static let opcode = HCIOpcode.leSetExtendedScanEnable
    /// Whether to scan.
    public var isEnabled: Bool
    /// Whether to report each advertiser only once.
    public var filterDuplicates: DuplicateFiltering
    /// The scan duration in units of 10 ms; 0 scans until disabled.
    public var duration: UInt16
    /// The time from the start of one scan duration to the start of the next, in units of 1.28 s; 0 scans only once.
    public var period: UInt16

    /// Creates the command. By default, duplicates are reported, and the scan continues until it is disabled.
    public init(
        isEnabled: Bool, filterDuplicates: DuplicateFiltering = .disabled, duration: UInt16 = 0, period: UInt16 = 0
    ) {
        self.isEnabled = isEnabled
        self.filterDuplicates = filterDuplicates
        self.duration = duration
        self.period = period
    }

    /// Decodes six octets of parameters. Throws if octets are missing, if the duplicate filter is reserved, or if the
    /// flag is neither 0x00 nor 0x01.
    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (isEnabled, filterDuplicates, duration, period) = try parameters.read()
    }

    /// Appends the six octets of parameters.
    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: isEnabled, filterDuplicates, duration, period)
    }
}
