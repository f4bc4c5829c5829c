import BluetoothBase
import Dispatch
import Synchronization

extension VirtualRadio {
    /// Advances the time of a radio with `manual` time. Everything that is due happens in order, and every host takes
    /// its turn at each instant, on this thread.
    ///
    /// Tasks that wait for an outcome are resumed on their own executors, possibly only after this call returns. Use
    /// `advance(by:)` to let them act at the instant itself.
    public func advanceHosts(by duration: Duration) {
        precondition(time == .manual, "this radio uses the system's time")
        let end = now.advanced(by: duration)
        while let deadline = takeTurns(), deadline <= end { setTime(deadline) }
        setTime(end)
        _ = takeTurns()
    }

    /// Advances the time of a radio with `manual` time. Everything that is due happens in order, and every host takes
    /// its turn at each instant.
    ///
    /// Between the instants, tasks that wait for an outcome get the chance to continue, and their next calls happen at
    /// that instant. This is not guaranteed, because the radio cannot know whether another task has finished its work.
    /// A task that works for long between two calls may find that time has passed in the meantime. A task that has not
    /// started yet may start after the call returns, so wait until it has reached the right point first. `withTimeout`
    /// and `Task.sleep` use the system's clock.
    public func advance(by duration: Duration) async {
        precondition(time == .manual, "this radio uses the system's time")
        let end = now.advanced(by: duration)
        while true {
            let deadline = await settle()
            guard let deadline, deadline <= end else { break }
            setTime(deadline)
        }
        setTime(end)
        _ = await settle()
    }

    /// Sets the time, and performs the actions that are due.
    private func setTime(_ instant: Instant) {
        state.withLock { $0.now = max($0.now, instant) }
        while let action = state.withLock({ $0.takeAction() }) { action() }
    }

    /// Lets all hosts, and then their tasks, do everything they can without time passing. Returns the next deadline.
    private func settle() async -> Instant? {
        var deadline = takeTurns()
        // Tasks that a host has just resumed may call it again at the same instant.
        for _ in 0..<Self.chances {
            let before = turns.requests
            await letTasksRun()
            deadline = takeTurns()
            if turns.requests == before { break }
        }
        return deadline
    }

    /// The maximum number of consecutive chances that tasks get to make further calls at one instant.
    private static let chances = 16

    /// Waits behind the work that is ready to run.
    private func letTasksRun() async {
        await withUnsafeContinuation { continuation in
            DispatchQueue.global(qos: .utility).async { continuation.resume() }
        }
    }

    /// Gives every host a turn, in the order of the controllers, until no host has anything left to do. Returns the
    /// next deadline.
    private func takeTurns() -> Instant? {
        while true {
            let hosts = state.withLock { $0.hosts.sorted { $0.key.index < $1.key.index }.map(\.value) }
            let before = turns.requests
            let deadline = turns.give(hosts)
            let next = withAir(for: nil) { state, _ in earliest(state.air.nextDeadline, state.actions.first?.instant) }
            if turns.requests == before { return earliest(deadline, next) }
        }
    }
}
