import BluetoothBase
import BluetoothHCI

/// The periodic advertising of a set: data that is sent at fixed intervals, so that synchronized receivers need not
/// scan (Core 5.4, Vol 3, Part C, 9.5).
///
/// The set must use extended PDUs, which announce the periodic advertising. It must be neither connectable, scannable
/// nor anonymous.
public struct PeriodicAdvertising: Hashable, Sendable {
    /// The range from which the controller chooses the interval, 7.5 ms to 81.91875 s.
    public var interval: ClosedRange<Duration>
    /// The AD structures: at most 1650 octets, if the controller supports that many. Must be empty with `responses`.
    public var data: [UInt8]
    /// Whether the packets carry the transmit power.
    public var includesTransmitPower: Bool
    /// Whether the packets identify their data (ADI), so that receivers can filter duplicates. Not every controller
    /// supports this.
    public var includesDataIdentifier: Bool
    /// The subevents, which receivers may respond to; nil for data without responses.
    public var responses: PeriodicSubevents?

    /// Creates periodic advertising. By default, the interval is 100 to 150 ms, and receivers cannot respond.
    public init(
        interval: ClosedRange<Duration> = .milliseconds(100)...(.milliseconds(150)),
        data: some Collection<UInt8> = [UInt8](), includesTransmitPower: Bool = false,
        includesDataIdentifier: Bool = false, responses: PeriodicSubevents? = nil
    ) {
        self.interval = interval
        self.data = Array(data)
        self.includesTransmitPower = includesTransmitPower
        self.includesDataIdentifier = includesDataIdentifier
        self.responses = responses
    }

    /// Whether the specification allows these values (Vol 4, Part E, 7.8.61).
    var isValid: Bool {
        let allowed = Duration.microseconds(7500)...PeriodicAdvertising.unit * 0xFFFF
        guard allowed.contains(interval.lowerBound), interval.upperBound <= allowed.upperBound,
            data.count <= EstablishedSync.maximumLength
        else { return false }
        return responses.map { data.isEmpty && $0.isValid(in: interval.lowerBound) } ?? true
    }

    /// The unit of intervals.
    static let unit = Duration.microseconds(1250)
}

/// The subevents of periodic advertising with responses, and the timing of the responses (Core 5.4, Vol 6, Part B,
/// 4.4.2.12.2).
public struct PeriodicSubevents: Hashable, Sendable {
    /// The number of subevents in a periodic advertising event, 1 to 128.
    public var count: Int
    /// The time from one subevent to the next, 7.5 ms to 318.75 ms.
    public var interval: Duration
    /// The time from the start of a subevent to its first response slot, 1.25 ms to 317.5 ms.
    public var responseSlotDelay: Duration
    /// The time from one response slot to the next, 0.25 ms to 31.875 ms.
    public var responseSlotSpacing: Duration
    /// The number of response slots in a subevent; 0 on a receiver, because the controller does not report it.
    public var responseSlotCount: Int

    /// Creates subevents. Advertising fails if a value is out of range, or if the subevents do not fit in the interval.
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

/// The data of one subevent, and the response slots for it (Core 5.4, Vol 4, Part E, 7.8.125).
public struct PeriodicSubeventData: Equatable, Sendable {
    /// The number of the subevent, 0 to 127.
    public var subevent: Int
    /// The data, at most 251 octets.
    public var data: [UInt8]
    /// The response slots in which devices may answer.
    public var responseSlots: Range<Int>

    /// Creates the data of a subevent. Setting the data fails if a value is out of range.
    public init(subevent: Int, data: some Collection<UInt8>, responseSlots: Range<Int>) {
        self.subevent = subevent
        self.data = Array(data)
        self.responseSlots = responseSlots
    }

    var isValid: Bool {
        (0..<128).contains(subevent) && data.count <= LESetPeriodicAdvertisingSubeventData.Subevent.maximumLength
            && responseSlots.lowerBound >= 0 && responseSlots.lowerBound <= 255 && responseSlots.count <= 255
    }
}
