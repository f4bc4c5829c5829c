import BluetoothBase

/// The outcome of one call of a `SignallingChannel`, for its owner to act on.
public enum SignallingOutcome: Hashable, Sendable {
    /// There is nothing to do. Nothing was written, but perhaps a refusal of what was asked about channels.
    case ignored
    /// A Command Reject was written.
    case rejected(CommandReject.Reason)
    /// As a central: an accepting response was written, and the owner must now update the link to these parameters: the
    /// requested ones, restricted to what is acceptable here.
    case connectionParameterUpdateAccepted(ConnectionParameters)
    /// As a central: a rejecting response was written. The parameters are those requested, and not necessarily valid.
    case connectionParameterUpdateRejected(ConnectionParameters)
    /// Something has happened to credit-based channels: `CreditBasedChannels.events` has it.
    case channelsChanged
    /// As a peripheral: our request has ended. Nothing was written.
    case connectionParameterUpdateEnded(ConnectionParameterUpdateEnd)
}

/// How our Connection Parameter Update Request ended.
public enum ConnectionParameterUpdateEnd: Hashable, Sendable {
    /// The central will change the parameters; the controller reports when it has.
    case accepted
    /// The central keeps the current parameters. Ask again only after 30 seconds (Vol 3, Part C, 9.3.9.2).
    case rejected
    /// The central answered with a Command Reject: it does not support the procedure.
    case notSupported
    /// The central did not answer in time.
    case timedOut
}

/// Why a Connection Parameter Update Request was not sent.
public enum ConnectionParameterUpdateError: Error, Hashable, Sendable {
    /// Only a peripheral may ask.
    case notPeripheral
    /// The specification does not allow these parameters.
    case invalidParameters
    /// An earlier request waits for its answer.
    case requestOutstanding
}

/// Which connection parameters a central grants its peripherals.
public struct AcceptableConnectionParameters: Hashable, Sendable {
    /// The intervals granted, in units of 1.25 ms.
    public var intervals: ClosedRange<UInt16>
    /// The greatest peripheral latency granted, in connection events.
    public var maximumLatency: UInt16
    /// The supervision timeouts granted, in units of 10 ms.
    public var timeouts: ClosedRange<UInt16>

    /// By default, everything the specification allows.
    public init(
        intervals: ClosedRange<UInt16> = ConnectionParameters.intervals,
        maximumLatency: UInt16 = ConnectionParameters.latencies.upperBound,
        timeouts: ClosedRange<UInt16> = ConnectionParameters.timeouts
    ) {
        self.intervals = intervals
        self.maximumLatency = maximumLatency
        self.timeouts = timeouts
    }

    /// The part of a peripheral's request that is granted: its intervals restricted to ours. Nil if it requests
    /// something invalid, or nothing we grant.
    public func granted(of request: ConnectionParameters) -> ConnectionParameters? {
        guard request.isValid, request.latency <= maximumLatency, timeouts.contains(request.timeout) else { return nil }
        var granted = request
        granted.intervalMin = max(request.intervalMin, intervals.lowerBound)
        granted.intervalMax = min(request.intervalMax, intervals.upperBound)
        return granted.intervalMin <= granted.intervalMax ? granted : nil
    }
}
