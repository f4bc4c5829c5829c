import BluetoothBase

/// LE Set Extended Scan Parameters (Core 5.4, Vol 4, Part E, 7.8.64).
public struct LESetExtendedScanParameters: HCICommand {
    /// How to scan on one PHY.
    public struct PHYParameters: Hashable, Sendable {
        /// Whether to send scan requests.
        public var type: LEScanType
        /// From the start of one scan window to the start of the next, 0x0004 (2.5 ms) or more.
        public var interval: LESlots
        /// How long to listen in each interval, 0x0004 (2.5 ms) or more; at most the interval.
        public var window: LESlots

        public init(type: LEScanType, interval: LESlots, window: LESlots) {
            self.type = type
            self.interval = interval
            self.window = window
        }
    }

    public static let opcode = HCIOpcode.leSetExtendedScanParameters
    /// The address to send scan requests with.
    public var ownAddressType: OwnAddressType
    /// Which advertisements to report.
    public var filterPolicy: ScanningFilterPolicy
    /// Parameters for LE 1M; nil does not scan on this PHY.
    public var le1M: PHYParameters?
    /// Parameters for LE Coded; nil does not scan on this PHY.
    public var leCoded: PHYParameters?

    public init(
        ownAddressType: OwnAddressType = .public, filterPolicy: ScanningFilterPolicy = .all, le1M: PHYParameters?,
        leCoded: PHYParameters? = nil
    ) {
        self.ownAddressType = ownAddressType
        self.filterPolicy = filterPolicy
        self.le1M = le1M
        self.leCoded = leCoded
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        let phys: LEPHYs
        (ownAddressType, filterPolicy, phys) = try parameters.read()
        guard phys.isSubset(of: [.le1M, .leCoded]) else {
            throw DecodingFailure(.invalidValue, at: parameters.offset - 1)
        }
        le1M = phys.contains(.le1M) ? try PHYParameters(decoding: &parameters) : nil
        leCoded = phys.contains(.leCoded) ? try PHYParameters(decoding: &parameters) : nil
    }

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
    public static let opcode = HCIOpcode.leSetExtendedScanEnable
    /// Whether to scan.
    public var isEnabled: Bool
    /// Whether to report each advertiser only once.
    public var filterDuplicates: DuplicateFiltering
    /// How long to scan, in units of 10 ms; 0 scans until stopped.
    public var duration: UInt16
    /// From the start of one scan to the start of the next, in units of 1.28 s; 0 scans only once.
    public var period: UInt16

    public init(
        isEnabled: Bool, filterDuplicates: DuplicateFiltering = .disabled, duration: UInt16 = 0, period: UInt16 = 0
    ) {
        self.isEnabled = isEnabled
        self.filterDuplicates = filterDuplicates
        self.duration = duration
        self.period = period
    }

    public init(decoding parameters: inout ByteReader) throws(DecodingFailure) {
        (isEnabled, filterDuplicates, duration, period) = try parameters.read()
    }

    public func encodeParameters(into writer: inout ByteWriter) {
        writer.append(parameters: isEnabled, filterDuplicates, duration, period)
    }
}
