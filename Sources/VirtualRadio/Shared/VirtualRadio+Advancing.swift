import BluetoothBase
import Synchronization

extension VirtualRadio {
    /// Lets time pass, where it is `manual`: everything happens that is due, in order, and every host takes its turn at each
    /// instant. Between them, tasks that wait for what has happened get the chance to go on.
    public func advance(by duration: Duration) async {
        precondition(time == .manual, "the time of this radio is the system's")
        let end = now.advanced(by: duration)
        while true {
            let deadline = await settle()
            guard let deadline, deadline <= end else { break }
            state.withLock { $0.now = max($0.now, deadline) }
        }
        state.withLock { $0.now = max($0.now, end) }
        _ = await settle()
    }

    /// Lets all hosts do what they can without time passing. Returns when the next thing happens by itself.
    private func settle() async -> Instant? {
        while true {
            var deadline = withAir { air, _ in air.nextDeadline }
            for host in state.withLock({ Array($0.hosts.values) }) {
                deadline = earliest(deadline, await host.turn())
            }
            // Tasks that a host has just resumed may want something of it at this very instant.
            for _ in 0..<4 { await Task.yield() }
            let isQuiet = state.withLock { $0.wakes.isEmpty }
            if isQuiet { return deadline }
        }
    }
}
