import BluetoothBase

/// LE Set Extended Scan Parameters (Core 5.4, Vol 4, Part E, 7.8.64).
public struct LESetExtendedScanParameters: HCICommand {
    /// How to scan on one PHY.
    public struct PHYParameters: Hashable, Sendable {
        public var type: LEScanType
        /// From one scan window's start to the next's, 0x0004 (2.5 ms) and up.
        public var interval: LESlots
        /// How long to listen in each interval: not longer than it.
        public var window: LESlots

        public init(type: LEScanType, interval: LESlots, window: LESlots) {
            self.type = type
            self.interval = interval
            self.window = window
        }
    }

    public static let opcode = HCIOpcode.leSetExtendedScanParameters
    public var ownAddressType: OwnAddressType
    public var filterPolicy: ScanningFilterPolicy
    /// nil leaves the PHY out.
    public var le1M: PHYParameters?
    /// nil leaves the PHY out.
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
    public var isEnabled: Bool
    public var filterDuplicates: DuplicateFiltering
    /// In units of 10 ms; 0 is until stopped.
    public var duration: UInt16
    /// From one scan's start to the next's, in units of 1.28 s; 0 scans once.
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
