import DBus

/// Actions at a later time, on the bus's thread. There are few at any time, so finding the next one is a search.
final class Timers {
    struct ID: Hashable { fileprivate let number: UInt64 }

    private struct Timer {
        let deadline: UInt64
        let action: () -> Void
    }

    private var timers: [ID: Timer] = [:]
    private var lastNumber: UInt64 = 0

    /// When the next action is due, in microseconds of the monotonic clock; nil if there is none.
    var deadline: UInt64? { timers.values.lazy.map(\.deadline).min() }

    /// Performs an action once, after a time.
    @discardableResult
    func schedule(after delay: Duration, _ action: @escaping () -> Void) -> ID {
        lastNumber += 1
        let id = ID(number: lastNumber)
        let microseconds = max(delay / .microseconds(1), 0)
        timers[id] = Timer(deadline: MonotonicClock.microseconds + UInt64(microseconds), action: action)
        return id
    }

    func cancel(_ id: ID?) {
        if let id { timers[id] = nil }
    }

    /// Performs the actions that are due, in order.
    func fire() {
        guard !timers.isEmpty else { return }
        let now = MonotonicClock.microseconds
        for (id, timer) in timers.filter({ $0.value.deadline <= now }).sorted(by: { $0.key.number < $1.key.number }) {
            // An earlier action may have cancelled it.
            if timers.removeValue(forKey: id) != nil { timer.action() }
        }
    }
}
