import BluetoothBase
import BluetoothHCI

/// The periodic advertising of a set: data that is sent at exact intervals, so that who is synchronized to it need not scan (Core 5.4,
/// Vol 3, Part C, 9.5).
///
/// The set has extended PDUs, which say where its periodic advertising is found, and nobody can connect to it, ask for its scan
/// response or miss its address.
public struct PeriodicAdvertising: Hashable, Sendable {
    /// The range from which the controller takes the interval, 7.5 ms to 81.91875 s.
    public var interval: ClosedRange<Duration>
    /// At most 1650 octets of AD structures, as far as the controller takes them. Empty with `responses`.
    public var data: [UInt8]
    /// Whether it says how strongly it is sent.
    public var includesTransmitPower: Bool
    /// Whether it says which data are new, so that who receives it can be spared the others. Not every controller can.
    public var includesDataIdentifier: Bool
    /// Subevents, which may be answered; nil for data that goes to all.
    public var responses: PeriodicSubevents?

    public init(
        interval: ClosedRange<Duration> = .milliseconds(100)...(.milliseconds(150)), data: [UInt8] = [],
        includesTransmitPower: Bool = false, includesDataIdentifier: Bool = false, responses: PeriodicSubevents? = nil
    ) {
        self.interval = interval
        self.data = data
        self.includesTransmitPower = includesTransmitPower
        self.includesDataIdentifier = includesDataIdentifier
        self.responses = responses
    }

    /// Vol 4, Part E, 7.8.61.
    var isValid: Bool {
        let allowed = Duration.microseconds(7500)...PeriodicAdvertising.unit * 0xFFFF
        guard allowed.contains(interval.lowerBound), interval.upperBound <= allowed.upperBound,
            data.count <= PeriodicSync.maximumLength
        else { return false }
        return responses.map { data.isEmpty && $0.isValid(in: interval.lowerBound) } ?? true
    }

    /// In which intervals are counted.
    static let unit = Duration.microseconds(1250)
}

/// The parts of each event of periodic advertising with responses, and when they may be answered (Core 5.4, Vol 6, Part B, 4.4.2.12.2).
public struct PeriodicSubevents: Hashable, Sendable {
    /// How many there are in an event, 1 to 128.
    public var count: Int
    /// From one to the next, 7.5 ms to 318.75 ms.
    public var interval: Duration
    /// From the beginning of one to its first response slot, 1.25 ms to 317.5 ms.
    public var responseSlotDelay: Duration
    /// From one response slot to the next, 0.25 ms to 31.875 ms.
    public var responseSlotSpacing: Duration
    /// How many response slots each has; 0 where a peer has told of it, which does not say.
    public var responseSlotCount: Int

    public init(
        count: Int, interval: Duration, responseSlotDelay: Duration, responseSlotSpacing: Duration,
        responseSlotCount: Int
    ) {
        self.count = count
        self.interval = interval
        self.responseSlotDelay = responseSlotDelay
        self.responseSlotSpacing = responseSlotSpacing
        self.responseSlotCount = responseSlotCount
    }

    static let slotUnit = Duration.microseconds(125)

    fileprivate func isValid(in event: Duration) -> Bool {
        let unit = PeriodicAdvertising.unit
        guard (1...128).contains(count), (unit * 6...unit * 255).contains(interval), interval * count <= event,
            (1...255).contains(responseSlotCount), (unit...unit * 254).contains(responseSlotDelay),
            (Self.slotUnit * 2...Self.slotUnit * 255).contains(responseSlotSpacing)
        else { return false }
        return responseSlotDelay + responseSlotSpacing * responseSlotCount <= interval
    }
}

/// What is sent in one subevent, and in which of its slots it may be answered (Core 5.4, Vol 4, Part E, 7.8.125).
public struct PeriodicSubeventData: Equatable, Sendable {
    /// Which subevent, 0 to 127.
    public var subevent: Int
    /// At most 251 octets.
    public var data: [UInt8]
    /// The response slots in which devices may answer.
    public var responseSlots: Range<Int>

    public init(subevent: Int, data: [UInt8], responseSlots: Range<Int>) {
        self.subevent = subevent
        self.data = data
        self.responseSlots = responseSlots
    }

    var isValid: Bool {
        (0..<128).contains(subevent) && data.count <= LESetPeriodicAdvertisingSubeventData.Subevent.maximumLength
            && responseSlots.lowerBound >= 0 && responseSlots.lowerBound <= 255 && responseSlots.count <= 255
    }
}
