import BluetoothBase
import BluetoothHCI

/// The transmit power of one side of a link (Core 5.4, Vol 4, Part E, 7.7.65.33 and 7.8.117).
public struct LinkTransmitPower: Equatable, Sendable {
    /// The transmit power in dBm; nil if it is not available, or if the peer does not manage it.
    public var level: Int?
    /// The maximum transmit power in dBm; nil if it is not available. Known only for this device, because a peer does
    /// not report it.
    public var maximum: Int?
    /// Whether this is the minimum power of the side.
    public var isMinimum: Bool
    /// Whether this is the maximum power of the side.
    public var isMaximum: Bool

    /// Creates a transmit power. A value is nil if it is not available.
    ///
    /// - Parameters:
    ///   - level: the transmit power in dBm.
    ///   - maximum: the maximum transmit power in dBm.
    public init(level: Int?, maximum: Int? = nil, isMinimum: Bool = false, isMaximum: Bool = false) {
        self.level = level
        self.maximum = maximum
        self.isMinimum = isMinimum
        self.isMaximum = isMaximum
    }
}

/// A change of the transmit power of one side of a link (Core 5.4, Vol 4, Part E, 7.7.65.33).
public struct TransmitPowerChange: Equatable, Sendable {
    /// A side of a link.
    public enum Side: UInt8, Equatable, Sendable {
        case local = 0
        case remote = 1
    }

    /// The side whose transmit power has changed.
    public var side: Side
    /// The new transmit power of the side.
    public var power: LinkTransmitPower
    /// The change in dB; nil if it is not available.
    public var delta: Int?

    /// Creates a change of the transmit power. `delta` is in dB; nil if it is not available.
    public init(side: Side, power: LinkTransmitPower, delta: Int?) {
        self.side = side
        self.power = power
        self.delta = delta
    }
}

/// The path loss thresholds of a link, in dB (Core 5.4, Vol 4, Part E, 7.8.119).
public struct PathLossThresholds: Equatable, Sendable {
    /// The threshold below which the link is in the low zone.
    public var low: UInt8
    /// The threshold above which the link is in the high zone.
    public var high: UInt8
    /// The amount by which the path loss must pass a threshold before the zone changes.
    public var hysteresis: UInt8
    /// The number of connection events that the path loss must stay in a new zone before the change is reported.
    public var minimumEvents: UInt16

    /// Creates thresholds in dB, with a hysteresis of 2 dB and one connection event by default. `isValid` checks them.
    public init(low: UInt8, high: UInt8, hysteresis: UInt8 = 2, minimumEvents: UInt16 = 1) {
        self.low = low
        self.high = high
        self.hysteresis = hysteresis
        self.minimumEvents = minimumEvents
    }

    /// Whether the specification allows these thresholds. The zones must not overlap.
    public var isValid: Bool {
        let (low, high, hysteresis) = (Int(low), Int(high), Int(hysteresis))
        return low <= high && low + hysteresis <= high - hysteresis && hysteresis <= low && high + hysteresis <= 255
    }
}

/// A report of the path loss between the peer and this device (Core 5.4, Vol 4, Part E, 7.7.65.32).
public struct PathLossReport: Equatable, Sendable {
    /// The path loss in dB; nil if it is not available.
    public var loss: Int?
    /// The current path loss zone.
    public var zone: PathLossZone

    /// Creates a report of a path loss in dB; nil if it is not available.
    public init(loss: Int?, zone: PathLossZone) {
        self.loss = loss
        self.zone = zone
    }
}

/// An event about power that a link's controller reports unsolicited.
public enum LinkPowerEvent: Equatable, Sendable {
    /// The path loss zone has changed; see `Host.reportPathLoss`.
    case pathLoss(PathLossReport)
    /// The transmit power of a side has changed; see `Host.reportTransmitPower`.
    case transmitPower(TransmitPowerChange)
}

/// The state machines that read and report the power on a link.
struct LinkPower: Hashable, Sendable {
    var readings = PowerReadings()
    var pathLoss = PathLossReports()
    var transmitPower = TransmitPowerReports()

    /// The state machine, and its command, that an answer belongs to.
    enum Answer: Equatable, Sendable { case localReading, remoteReading, pathLoss, transmitPower }

    /// The pending requests.
    var requests: [RequestIdentifier] {
        readings.requests + [pathLoss.request, transmitPower.request].compactMap { $0 }
    }
}

extension LinkTransmitPower {
    init(_ returned: LEEnhancedReadTransmitPowerLevel.ReturnParameters) {
        let current = returned.currentTransmitPowerLevel, maximum = returned.maxTransmitPowerLevel
        // 127 dBm means "not available" (7.8.117).
        self.init(
            level: current == 127 ? nil : Int(current), maximum: maximum == 127 ? nil : Int(maximum),
            isMaximum: current != 127 && current == maximum)
    }

    init(_ report: LETransmitPowerReporting) {
        // 126 dBm means "not managed", 127 dBm "not available" (7.7.65.33).
        let level = report.transmitPowerLevel
        self.init(
            level: level >= 126 ? nil : Int(level), isMinimum: report.levelFlags & 1 != 0,
            isMaximum: report.levelFlags & 2 != 0)
    }
}

extension TransmitPowerChange {
    /// Returns nil if the report is not about a change.
    init?(_ report: LETransmitPowerReporting) {
        guard let side = Side(rawValue: report.reason) else { return nil }
        self.init(
            side: side, power: LinkTransmitPower(report), delta: report.delta == 127 ? nil : Int(report.delta))
    }
}
