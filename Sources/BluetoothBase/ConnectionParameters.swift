/// How often the devices of a link exchange packets, how many connection events the peripheral may skip, and when the
/// link counts as lost (Core 5.4, Vol 3, Part A, 4.20; Vol 4, Part E, 7.8.18; Vol 6, Part B, 4.5.2).
///
/// The stored properties are in the units of the protocol; computed properties give the same values as durations.
public struct ConnectionParameters: Hashable, Sendable {
    /// The shortest requested interval between connection events, in units of 1.25 ms: 6 to 3200.
    public var intervalMin: UInt16
    /// The longest requested interval between connection events, in units of 1.25 ms: 6 to 3200.
    public var intervalMax: UInt16
    /// How many connection events in a row the peripheral may skip: 0 to 499.
    public var latency: UInt16
    /// How long the link survives without a packet, in units of 10 ms: 10 to 3200.
    public var timeout: UInt16

    /// Creates parameters in the units of the protocol. Any values are accepted, because a peer may send any; see
    /// `isValid`.
    @inlinable
    public init(intervalMin: UInt16, intervalMax: UInt16, latency: UInt16, timeout: UInt16) {
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.latency = latency
        self.timeout = timeout
    }

    /// The intervals the specification allows, in units of 1.25 ms: 7.5 ms to 4 s.
    @inlinable public static var intervals: ClosedRange<UInt16> { 6...3200 }
    /// The peripheral latencies the specification allows.
    @inlinable public static var latencies: ClosedRange<UInt16> { 0...499 }
    /// The supervision timeouts the specification allows, in units of 10 ms: 100 ms to 32 s.
    @inlinable public static var timeouts: ClosedRange<UInt16> { 10...3200 }

    /// Whether every field is in its range, the shortest interval is not above the longest, and the supervision timeout
    /// is longer than twice the longest wait that latency and interval allow.
    @inlinable
    public var isValid: Bool {
        guard Self.intervals.contains(intervalMin), Self.intervals.contains(intervalMax), intervalMin <= intervalMax,
            Self.latencies.contains(latency), Self.timeouts.contains(timeout)
        else { return false }
        // timeout * 10 ms > 2 * (1 + latency) * intervalMax * 1.25 ms, without fractions.
        return UInt32(timeout) * 4 > (1 + UInt32(latency)) * UInt32(intervalMax)
    }
}

// MARK: - Times

extension ConnectionParameters {
    /// Creates parameters from durations, each rounded to the nearest unit of the protocol and clamped to its range.
    public init(
        minimumInterval: Duration, maximumInterval: Duration, latency: UInt16 = 0, supervisionTimeout: Duration
    ) {
        self.init(
            intervalMin: units(of: .microseconds(1250), in: minimumInterval, within: Self.intervals),
            intervalMax: units(of: .microseconds(1250), in: maximumInterval, within: Self.intervals),
            latency: min(latency, Self.latencies.upperBound),
            timeout: units(of: .milliseconds(10), in: supervisionTimeout, within: Self.timeouts))
    }

    /// The shortest requested interval.
    public var minimumInterval: Duration { .microseconds(1250 * Int64(intervalMin)) }
    /// The longest requested interval.
    public var maximumInterval: Duration { .microseconds(1250 * Int64(intervalMax)) }
    /// How long the link survives without a packet.
    public var supervisionTimeout: Duration { .milliseconds(10 * Int64(timeout)) }
}

/// `duration` divided by `unit`, rounded to the nearest and clamped to `range`.
private func units(of unit: Duration, in duration: Duration, within range: ClosedRange<UInt16>) -> UInt16 {
    let (whole, rest) = duration.nanoseconds.quotientAndRemainder(dividingBy: unit.nanoseconds)
    let rounded = rest * 2 >= unit.nanoseconds ? whole + 1 : whole
    return min(max(UInt16(clamping: rounded), range.lowerBound), range.upperBound)
}

// MARK: - Bytes

extension ByteReader {
    /// Reads the four fields in the order L2CAP and HCI share: shortest interval, longest, latency, timeout.
    @inlinable
    @_lifetime(self: copy self)
    public mutating func readConnectionParameters() throws(DecodingFailure) -> ConnectionParameters {
        ConnectionParameters(
            intervalMin: try readUInt16(), intervalMax: try readUInt16(), latency: try readUInt16(),
            timeout: try readUInt16())
    }
}

extension ByteWriter {
    /// Appends the four fields in the order L2CAP and HCI share: shortest interval, longest, latency, timeout.
    @inlinable
    public mutating func append(_ parameters: ConnectionParameters) {
        append(parameters.intervalMin)
        append(parameters.intervalMax)
        append(parameters.latency)
        append(parameters.timeout)
    }
}

extension ConnectionParameters: CustomStringConvertible {
    /// The parameters in readable form, for example `interval 7.5-15 ms, latency 0, timeout 1000 ms`.
    public var description: String {
        let shortest = milliseconds(intervalMin), longest = milliseconds(intervalMax)
        let interval = intervalMin == intervalMax ? shortest : "\(shortest)-\(longest)"
        return "interval \(interval) ms, latency \(latency), timeout \(Int(timeout) * 10) ms"
    }
}

/// An interval of 1.25 ms units in milliseconds, without trailing zeros.
private func milliseconds(_ interval: UInt16) -> String {
    let hundredths = Int(interval) * 125
    let fraction = [0: "", 25: ".25", 50: ".5", 75: ".75"][hundredths % 100] ?? ""
    return "\(hundredths / 100)\(fraction)"
}
