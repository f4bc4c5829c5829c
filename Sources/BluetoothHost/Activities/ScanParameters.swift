import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// The parameters of a scan (Core 5.4, Vol 4, Part E, 7.8.10).
public struct ScanParameters: Hashable, Sendable {
    /// Whether to send scan requests to advertisers.
    public var isActive: Bool
    /// The time from the start of one scan window to the start of the next, 2.5 ms to 10.24 s.
    public var interval: Duration
    /// The time for which the receiver is on in each interval, 2.5 ms to 10.24 s and no longer than `interval`.
    public var window: Duration
    /// Whether the controller reports every advertising event, instead of each advertiser once.
    public var reportsDuplicates: Bool
    /// The primary PHYs to scan on. PHYs other than LE 1M need a controller with extended scanning. Several PHYs share
    /// the window.
    public var phys: ScanPHYs

    /// Creates parameters. By default scanning is active, with the receiver always on, and every advertising event is
    /// reported.
    public init(
        isActive: Bool = true, interval: Duration = .milliseconds(60), window: Duration = .milliseconds(60),
        reportsDuplicates: Bool = true, phys: ScanPHYs = .le1M
    ) {
        self.isActive = isActive
        self.interval = interval
        self.window = window
        self.reportsDuplicates = reportsDuplicates
        self.phys = phys
    }

    /// Whether interval and window are 2.5 ms to 10.24 s, and the window is no longer than the interval (Vol 4, Part E,
    /// 7.8.10).
    package var isValid: Bool {
        let range = Duration.microseconds(2500)...Duration.milliseconds(10240)
        return range.contains(interval) && range.contains(window) && window <= interval && phys.isValid
    }
}

extension ScanParameters {
    /// The reason why a controller cannot scan with these parameters; nil if it can.
    func obstacle(_ radio: RadioFeatures) -> HostError? {
        phys.contains(.leCoded) && !radio.phys.contains(.leCoded) ? .unsupported(.leCoded) : nil
    }

    /// The command that sets the parameters, legacy or extended (Vol 4, Part E, 7.8.10 and 7.8.64).
    func command(_ ownAddressType: OwnAddressType, _ radio: RadioFeatures) -> any HCICommand {
        let type: LEScanType = isActive ? .active : .passive
        guard radio.isExtended else {
            return LESetScanParameters(
                type: type, interval: LESlots(clamping: interval), window: LESlots(clamping: window),
                ownAddressType: ownAddressType)
        }
        // A receiver listens on one PHY at a time.
        let share = phys.contains([.le1M, .leCoded]) ? min(window, interval / 2) : window
        let each = LESetExtendedScanParameters.PHYParameters(
            type: type, interval: LESlots(clamping: interval), window: LESlots(clamping: share))
        return LESetExtendedScanParameters(
            ownAddressType: ownAddressType, le1M: phys.contains(.le1M) ? each : nil,
            leCoded: phys.contains(.leCoded) ? each : nil)
    }
}
