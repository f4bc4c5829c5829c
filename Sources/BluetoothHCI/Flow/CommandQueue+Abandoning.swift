import BluetoothBase

extension CommandQueue {
    /// When the next command times out, if nothing happens before; nil if no command is waiting for the controller.
    public var nextDeadline: Instant? {
        var deadline: Instant?
        for entry in inFlight { deadline = earliest(deadline, entry.time) }
        return earliest(deadline, headDeadline)
    }

    /// Removes one command that has timed out, sent or not; nil if there is none. Call it until it returns nil.
    ///
    /// A command that has been sent and got no answer no longer counts as in flight, so the next one may be sent. With
    /// a dead controller each command times out in turn, so the caller should reset it instead.
    public mutating func popExpired(at now: Instant) -> AbandonedCommand? {
        if let index = inFlight.firstIndex(where: { $0.time <= now }) {
            let entry = inFlight.remove(at: index)
            updateStall(at: now)
            return AbandonedCommand(token: entry.token, opcode: entry.opcode)
        }
        guard let headDeadline, headDeadline <= now else { return nil }
        return popWaiting()
    }

    /// Removes one command, sent or not, oldest first. Returns nil when the queue is empty and back in its initial
    /// state. For a controller that is being reset, or has been unplugged: call it until it returns nil.
    public mutating func popAny() -> AbandonedCommand? {
        if !inFlight.isEmpty {
            let entry = inFlight.removeFirst()
            return AbandonedCommand(token: entry.token, opcode: entry.opcode)
        }
        if waitingCount > 0 { return popWaiting() }
        restart()
        return nil
    }

    private mutating func popWaiting() -> AbandonedCommand {
        let entry = slots[head].entry
        dropHead()
        return AbandonedCommand(token: entry.token, opcode: entry.opcode)
    }

    /// When the first command in the queue times out. It may wait for its turn without limit, but for a controller that
    /// accepts no commands only as long as for an answer.
    private var headDeadline: Instant? {
        guard let stalledSince, waitingCount > 0 else { return nil }
        let entry = slots[head].entry
        return max(entry.time, stalledSince).advanced(by: entry.timeout)
    }
}
