import BluetoothBase

extension CommandQueue {
    /// When the next command gives up, if nothing happens before; nil where none waits for the controller.
    public var nextDeadline: Instant? {
        var deadline: Instant?
        for entry in inFlight { deadline = earliest(deadline, entry.time) }
        return earliest(deadline, headDeadline)
    }

    /// Takes out one command whose time is up, sent or not; nil where there is none. Call it until it says so.
    ///
    /// A command that has been sent and got no answer no longer counts as in flight, so the next one may be sent: a
    /// controller that has died then lets each time out in turn, and the caller should rather reset it.
    public mutating func popExpired(at now: Instant) -> AbandonedCommand? {
        if let index = inFlight.firstIndex(where: { $0.time <= now }) {
            let entry = inFlight.remove(at: index)
            updateStall(at: now)
            return AbandonedCommand(token: entry.token, opcode: entry.opcode)
        }
        guard let headDeadline, headDeadline <= now else { return nil }
        return popWaiting()
    }

    /// Takes out one command, sent or not, oldest first; nil when all are gone, and then the queue is as new: for a
    /// controller that is being reset, or has been unplugged. Call it until it says so.
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

    /// When the first command in the queue gives up. It waits for its turn without limit, but for a controller that
    /// takes no commands only as long as for an answer.
    private var headDeadline: Instant? {
        guard let stalledSince, waitingCount > 0 else { return nil }
        let entry = slots[head].entry
        return max(entry.time, stalledSince).advanced(by: entry.timeout)
    }
}
