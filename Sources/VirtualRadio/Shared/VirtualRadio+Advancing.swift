import BluetoothBase
import Synchronization

extension VirtualRadio {
    /// Lets time pass if it is `manual`: everything that is due happens in order, and every host takes its turn at each
    /// instant.
    ///
    /// Between the instants, tasks that wait for what has happened get the chance to continue, and their next calls
    /// happen at that instant. This is not guaranteed, because it is impossible to know whether another task has
    /// finished its work. A task that works for long between two calls may find that time has passed in the meantime,
    /// and one that has not started yet may start after everything is over: wait until it is where it should be.
    /// `withTimeout` and `Task.sleep` use the system's clock.
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

    /// Lets all hosts do what they can without time passing. Returns when something next happens by itself.
    private func settle() async -> Instant? {
        while true {
            let before = state.withLock { $0.activity }
            _ = await takeTurns()
            // Tasks that a host has just resumed may call it at this same instant.
            for _ in 0..<4 { await Task.yield() }
            let deadline = await takeTurns()
            let isQuiet = state.withLock { $0.wakes.isEmpty && $0.activity == before }
            if isQuiet { return deadline }
        }
    }

    /// Every host takes a turn, in the order of the controllers. Returns when something next happens by itself.
    private func takeTurns() async -> Instant? {
        let hosts = state.withLock { $0.hosts.sorted { $0.key.index < $1.key.index }.map(\.value) }
        var deadline: Instant?
        for host in hosts { deadline = earliest(deadline, await host.turn()) }
        return earliest(deadline, withAir { air, _ in air.nextDeadline })
    }
}
