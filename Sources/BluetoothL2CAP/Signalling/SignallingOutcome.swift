import BluetoothBase

/// The outcome of a call to a `SignallingChannel`, for its owner to act on.
public enum SignallingOutcome: Hashable, Sendable {
    /// Nothing to do. If anything was written, it is a response about channels that requires no action.
    case ignored
    /// A Command Reject was written.
    case rejected(CommandReject.Reason)
    /// As a central: an accepting response was written. The owner must now update the link to these parameters: the
    /// requested ones, restricted to `acceptableParameters`.
    case connectionParameterUpdateAccepted(ConnectionParameters)
    /// As a central: a rejecting response was written. The parameters are those requested, and not necessarily valid.
    case connectionParameterUpdateRejected(ConnectionParameters)
    /// Credit-based channels have changed, as reported in `CreditBasedChannels.events`.
    case channelsChanged
    /// As a peripheral: the local request has ended. Nothing was written.
    case connectionParameterUpdateEnded(ConnectionParameterUpdateEnd)
}

/// How the local Connection Parameter Update Request ended.
public enum ConnectionParameterUpdateEnd: Hashable, Sendable {
    /// The central will change the parameters. The controller reports the change.
    case accepted
    /// The central keeps the current parameters. Ask again only after 30 seconds (Vol 3, Part C, 9.3.9.2).
    case rejected
    /// The central answered with a Command Reject: it does not support the procedure.
    case notSupported
    /// The central did not answer in time.
    case timedOut
}

/// Why a Connection Parameter Update Request was not sent.
@nonexhaustive
public enum ConnectionParameterUpdateError: Error, Hashable, Sendable {
    /// Only a peripheral may send the request.
    case notPeripheral
    /// The specification does not allow these parameters.
    case invalidParameters
    /// An earlier request is still waiting for its response.
    case requestOutstanding
}

/// The connection parameters that a central grants its peripherals.
public struct AcceptableConnectionParameters: Hashable, Sendable {
    /// The granted intervals, in units of 1.25 ms.
    public var intervals: ClosedRange<UInt16>
    /// The maximum granted peripheral latency, in connection events.
    public var maximumLatency: UInt16
    /// The granted supervision timeouts, in units of 10 ms.
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

    /// The part of a peripheral's request that is granted: its intervals are restricted to `intervals`. Nil if the
    /// request is invalid, or if nothing in it can be granted.
    public func granted(of request: ConnectionParameters) -> ConnectionParameters? {
        guard request.isValid, request.latency <= maximumLatency, timeouts.contains(request.timeout) else { return nil }
        var granted = request
        granted.intervalMin = max(request.intervalMin, intervals.lowerBound)
        granted.intervalMax = min(request.intervalMax, intervals.upperBound)
        return granted.intervalMin <= granted.intervalMax ? granted : nil
    }
}
