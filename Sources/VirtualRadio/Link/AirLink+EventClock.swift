import BluetoothBase

/// The times of connection events (Core 5.4, Vol 6, Part B, 4.5.1). They are calculated from one known event, so idle
/// events need no timer.
extension AirLink {
    /// The first connection event at or after `time`; only every `stride`-th event counts.
    func event(notBefore time: Instant, stride: UInt64 = 1) -> Instant {
        guard time > anchor else { return anchor }
        let period = parameters.intervalNanoseconds &* stride
        guard period > 0 else { return time }
        let periods = (time.nanoseconds &- anchor.nanoseconds &- 1) / period &+ 1
        return anchor.advanced(nanoseconds: periods &* period)
    }

    /// The first event at or after `time` at which a packet from `sender` is received. A peripheral without data to
    /// send skips `latency` events.
    func event(notBefore time: Instant, for sender: LinkRole) -> Instant {
        event(notBefore: time, stride: sender == .central ? UInt64(parameters.latency) &+ 1 : 1)
    }

    /// The first event after `now` at which a packet from `sender` is received, plus a number of further events.
    func event(after now: Instant, for sender: LinkRole, skipping events: UInt64 = 0) -> Instant {
        event(notBefore: now.advanced(nanoseconds: 1), for: sender)
            .advanced(nanoseconds: events &* parameters.intervalNanoseconds)
    }

    /// The instant of a change that both ends make simultaneously. At least six events at which the peripheral listens
    /// precede it (5.1.1).
    func instant(after now: Instant) -> Instant {
        event(after: now, for: .central, skipping: 6)
    }

    /// The latest event that started at or before `time`.
    func event(before time: Instant) -> Instant {
        guard time > anchor else { return anchor }
        let elapsed = time.nanoseconds &- anchor.nanoseconds
        return Instant(nanoseconds: time.nanoseconds &- elapsed % max(1, parameters.intervalNanoseconds))
    }

    /// Ensures that the data queued by `sender` is sent at its next event. An event in which data was exchanged ends
    /// once neither end has more data.
    mutating func wake(_ sender: LinkRole, at now: Instant) {
        guard self[sender].hasDataToSend else { return }
        let earliest = currentEvent.map { max(now, $0.advanced(nanoseconds: 1)) } ?? now
        let candidate = event(notBefore: earliest, for: sender)
        if let nextExchange, nextExchange <= candidate { return }
        nextExchange = candidate
    }

    /// Starts a new event clock with other parameters.
    mutating func restartClock(_ parameters: ConnectionTiming, at now: Instant) {
        self.parameters = parameters
        anchor = now
        currentEvent = nil
        nextExchange = nil
        wake(.central, at: now.advanced(nanoseconds: 1))
        wake(.peripheral, at: now.advanced(nanoseconds: 1))
    }

    /// The instant at which the air must process this link next.
    var nextDeadline: Instant? {
        guard hasContact else { return supervisionDeadline }
        return earliest(nextExchange, procedures.first?.due)
    }

    // MARK: - Contact

    /// The ends no longer receive each other. The last packets were received at the last event before `now`.
    mutating func loseContact(at now: Instant) {
        hasContact = false
        nextExchange = nil
        let lastReceived = now > anchor ? event(before: now) : now
        supervisionDeadline = max(now, lastReceived.advanced(nanoseconds: parameters.supervisionTimeoutNanoseconds))
    }

    /// The ends receive each other again. Pending data continues at the next event.
    mutating func regainContact(at now: Instant) {
        hasContact = true
        supervisionDeadline = nil
        for index in procedures.indices where procedures[index].due < now {
            procedures[index].due = event(notBefore: now, for: procedures[index].initiator)
        }
        procedures.sort { $0.due < $1.due }
        wake(.central, at: now)
        wake(.peripheral, at: now)
    }
}

extension Instant {
    @inline(__always)
    func advanced(nanoseconds delta: UInt64) -> Instant {
        Instant(nanoseconds: nanoseconds &+ delta)
    }
}
