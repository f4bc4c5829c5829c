import BluetoothBase
import Dispatch
import Synchronization

extension VirtualRadio {
    /// Lets time pass, where it is `manual`: everything happens that is due, in order, and every host takes its turn at each
    /// instant, on this thread.
    ///
    /// Tasks that wait for what happens are resumed, and go on where they run: perhaps only when all is over. `advance`
    /// without a suffix gives them the chance to act at the instant itself.
    public func advanceHosts(by duration: Duration) {
        precondition(time == .manual, "the time of this radio is the system's")
        let end = now.advanced(by: duration)
        while let deadline = takeTurns(), deadline <= end { setTime(deadline) }
        setTime(end)
        _ = takeTurns()
    }

    /// Lets time pass, where it is `manual`: everything happens that is due, in order, and every host takes its turn at each
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
            setTime(deadline)
        }
        setTime(end)
        _ = await settle()
    }

    private func setTime(_ instant: Instant) { state.withLock { $0.now = max($0.now, instant) } }

    /// Lets all hosts do what they can without time passing, and their tasks after them. Returns when the next thing
    /// happens by itself.
    private func settle() async -> Instant? {
        var deadline = takeTurns()
        // Tasks that a host has just resumed may want something of it at this very instant.
        for _ in 0..<Self.chances {
            let before = turns.requests
            await letTasksRun()
            deadline = takeTurns()
            if turns.requests == before { break }
        }
        return deadline
    }

    /// How often in a row tasks get the chance to want something more at one instant.
    private static let chances = 16

    /// Stands behind what is ready to run.
    private func letTasksRun() async {
        await withUnsafeContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { continuation.resume() }
        }
    }

    /// Every host takes a turn, in the order of the controllers, until there is nothing for any of them. Returns when the
    /// next thing happens by itself.
    private func takeTurns() -> Instant? {
        while true {
            let hosts = state.withLock { $0.hosts.sorted { $0.key.index < $1.key.index }.map(\.value) }
            let before = turns.requests
            let deadline = turns.give(hosts)
            let next = withAir { air, _ in air.nextDeadline }
            if turns.requests == before { return earliest(deadline, next) }
        }
    }
}
