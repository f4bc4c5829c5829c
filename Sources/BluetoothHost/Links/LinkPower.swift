import BluetoothBase
import BluetoothHCI

/// The power that one side of a link sends with (Core 5.4, Vol 4, Part E, 7.7.65.33 and 7.8.117).
public struct LinkTransmitPower: Equatable, Sendable {
    /// In dBm; nil where it is not known, or where the peer does not control it.
    public var level: Int?
    /// The most there is, in dBm. This device's only: a peer does not tell.
    public var maximum: Int?
    /// Whether the side cannot send with less.
    public var isMinimum: Bool
    /// Whether the side cannot send with more.
    public var isMaximum: Bool

    /// - Parameters:
    ///   - level: in dBm.
    ///   - maximum: in dBm.
    public init(level: Int?, maximum: Int? = nil, isMinimum: Bool = false, isMaximum: Bool = false) {
        self.level = level
        self.maximum = maximum
        self.isMinimum = isMinimum
        self.isMaximum = isMaximum
    }
}

/// A change of the power that one side of a link sends with (Core 5.4, Vol 4, Part E, 7.7.65.33).
public struct TransmitPowerChange: Equatable, Sendable {
    /// The side.
    public enum Side: UInt8, Equatable, Sendable {
        case local = 0
        case remote = 1
    }

    public var side: Side
    /// What the side sends with from now on.
    public var power: LinkTransmitPower
    /// By how much it has changed, in dB; nil where that is not known.
    public var delta: Int?

    public init(side: Side, power: LinkTransmitPower, delta: Int?) {
        self.side = side
        self.power = power
        self.delta = delta
    }
}

/// When a link's loss of signal is reported, in dB (Core 5.4, Vol 4, Part E, 7.8.119).
public struct PathLossThresholds: Equatable, Sendable {
    /// Below it the link is in the low zone.
    public var low: UInt8
    /// Above it the link is in the high zone.
    public var high: UInt8
    /// How far beyond a threshold the loss has to go before the zone changes.
    public var hysteresis: UInt8
    /// How many connection events the loss has to be in a zone before that counts.
    public var minimumEvents: UInt16

    public init(low: UInt8, high: UInt8, hysteresis: UInt8 = 2, minimumEvents: UInt16 = 1) {
        self.low = low
        self.high = high
        self.hysteresis = hysteresis
        self.minimumEvents = minimumEvents
    }

    /// Whether the specification allows them: the zones must not overlap.
    public var isValid: Bool {
        let (low, high, hysteresis) = (Int(low), Int(high), Int(hysteresis))
        return low <= high && low + hysteresis <= high - hysteresis && hysteresis <= low && high + hysteresis <= 255
    }
}

/// How much of the signal is lost on its way from the peer (Core 5.4, Vol 4, Part E, 7.7.65.32).
public struct PathLossReport: Equatable, Sendable {
    /// In dB; nil where it is not known.
    public var loss: Int?
    /// The zone that the loss is in now.
    public var zone: PathLossZone

    public init(loss: Int?, zone: PathLossZone) {
        self.loss = loss
        self.zone = zone
    }
}

/// What a link's controller reports by itself about power.
public enum LinkPowerEvent: Equatable, Sendable {
    /// The loss of signal is in another zone; see `Host.reportPathLoss`.
    case pathLoss(PathLossReport)
    /// A side sends with other power; see `Host.reportTransmitPower`.
    case transmitPower(TransmitPowerChange)
}

/// The machines that ask the controller about the power on a link.
struct LinkPower: Hashable, Sendable {
    var readings = PowerReadings()
    var pathLoss = PathLossReports()
    var transmitPower = TransmitPowerReports()

    /// Which of them an answer belongs to.
    enum Answer: Equatable, Sendable { case localReading, remoteReading, pathLoss, transmitPower }

    /// The requests that have not ended.
    var requests: [RequestIdentifier] {
        readings.requests + [pathLoss.request, transmitPower.request].compactMap { $0 }
    }
}

extension LinkTransmitPower {
    init(_ returned: LEEnhancedReadTransmitPowerLevel.ReturnParameters) {
        let current = returned.currentTransmitPowerLevel, maximum = returned.maxTransmitPowerLevel
        // 127 dBm stands for "not available" (7.8.117).
        self.init(
            level: current == 127 ? nil : Int(current), maximum: maximum == 127 ? nil : Int(maximum),
            isMaximum: current != 127 && current == maximum)
    }

    init(_ report: LETransmitPowerReporting) {
        // 126 dBm stands for "not controlled", 127 dBm for "not available" (7.7.65.33).
        let level = report.transmitPowerLevel
        self.init(
            level: level >= 126 ? nil : Int(level), isMinimum: report.levelFlags & 1 != 0,
            isMaximum: report.levelFlags & 2 != 0)
    }
}

extension TransmitPowerChange {
    /// Nil for a report that is about no change.
    init?(_ report: LETransmitPowerReporting) {
        guard let side = Side(rawValue: report.reason) else { return nil }
        self.init(
            side: side, power: LinkTransmitPower(report), delta: report.delta == 127 ? nil : Int(report.delta))
    }
}
