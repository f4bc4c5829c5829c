import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// How to scan (Core 5.4, Vol 4, Part E, 7.8.10).
public struct ScanParameters: Hashable, Sendable {
    /// Whether to ask advertisers for their scan response.
    public var isActive: Bool
    /// From the start of one scan window to the start of the next, 2.5 ms to 10.24 s.
    public var interval: Duration
    /// How long the receiver is on in each interval.
    public var window: Duration
    /// Whether the controller is to report every advertising event, rather than each advertiser once.
    public var reportsDuplicates: Bool
    /// On which primary PHYs. Others than LE 1M need a controller with extended scanning; each of several gets its share of the
    /// window.
    public var phys: ScanPHYs

    /// By default active, with the receiver on all the time, and every advertising event reported.
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

    /// Vol 4, Part E, 7.8.10: both 2.5 ms to 10.24 s, the window no longer than the interval.
    package var isValid: Bool {
        let range = Duration.microseconds(2500)...Duration.milliseconds(10240)
        return range.contains(interval) && range.contains(window) && window <= interval && phys.isValid
    }
}

extension ScanParameters {
    /// Why a controller cannot scan like this; nil if it can.
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
        // One receiver listens on one PHY at a time.
        let share = phys.contains([.le1M, .leCoded]) ? min(window, interval / 2) : window
        let each = LESetExtendedScanParameters.PHYParameters(
            type: type, interval: LESlots(clamping: interval), window: LESlots(clamping: share))
        return LESetExtendedScanParameters(
            ownAddressType: ownAddressType, le1M: phys.contains(.le1M) ? each : nil,
            leCoded: phys.contains(.leCoded) ? each : nil)
    }
}
