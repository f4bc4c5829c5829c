import BluetoothBase
import BluetoothHCI
import BluetoothHost
import HCITransport

/// The state of opening a controller, for the first time or after a loss.
struct Recovery {
    /// Whether to recover a lost controller.
    let isEnabled: Bool
    let source: ControllerSource
    /// Whether the adapter has ever been ready.
    var hasBeenReady = false
    var reopening = Reopening()
    /// The transport's name for this controller, if that also finds the controller under another number.
    var name: TransportName?
    var arrivals: (any Arrivals)?
    /// The attempt in progress.
    var opener: TransportOpener?

    init(_ source: ControllerSource, isEnabled: Bool) {
        self.source = source
        self.isEnabled = isEnabled
    }

    /// Stops all attempts and stops watching for arrivals.
    mutating func end() {
        opener?.cancel()
        opener = nil
        arrivals?.close()
        arrivals = nil
    }
}

/// Loss and recovery of the controller. The first opening is treated as a recovery.
extension RunnerCore {
    /// Starts to open the transport, unless the adapter was closed before its thread started.
    mutating func begin(at now: Instant) {
        guard case .closedTransport = state else { return }
        recovery.reopening.begin()
        open(at: now)
    }

    /// The transport failed, or the host reported a failure of the controller.
    mutating func controllerLost(_ cause: BluetoothError, at now: Instant) {
        guard case .open(let transport) = state else { return }
        transport.close()
        state = .closedTransport
        watchNumber += 1
        let before = shared.currentStatus()
        let wasReady = before != .opening && before != .unavailable && before != .lost
        shared.controllerLost(at: now, isReported: recovery.hasBeenReady)
        guard wasReady else { return tryFailed(cause, at: now) }
        guard recovery.isEnabled else { return giveUp(cause) }
        note(cause)
        recovery.name = transport.reopeningName ?? recovery.name
        watchArrivals()
        recovery.reopening.lost(at: now)
        attendPort()
    }

    /// Checks whether the host has reported a failure of its controller.
    mutating func noticeFailure(at now: Instant) {
        guard let failure = shared.takeControllerFailure() else { return }
        controllerLost(.adapter(failure), at: now)
    }

    mutating func noticeReadiness() {
        guard case .open = state else { return }
        guard shared.currentStatus() == .ready else {
            if case .resetting = shared.currentStatus() { note(.notReady) }
            return
        }
        restoreBonds(at: clock.now)
        if failure != nil || !recovery.hasBeenReady {
            recovery.hasBeenReady = true
            recovery.end()
            recovery.reopening.succeeded(at: clock.now)
            failure = nil
        }
        turns?.publish(failure: nil)
        turns?.publish(information: shared.currentController())
    }

    // MARK: - Reopening

    private mutating func watchArrivals() {
        // Start watching before the first attempt, so that no arrival is missed.
        recovery.arrivals = recovery.arrivals ?? recovery.source.watchArrivals()
        recovery.reopening.isToldOfArrivals = recovery.arrivals != nil
    }

    /// When the next attempt is due.
    var nextTry: Instant? {
        guard case .closedTransport = state, recovery.source.isWorthTrying else { return nil }
        return recovery.reopening.nextTry
    }

    /// Continues to reopen the controller, as far as that is possible now.
    mutating func reopen(at now: Instant) {
        guard case .closedTransport = state else { return }
        if let outcome = recovery.opener?.take() {
            recovery.opener = nil
            opened(outcome, at: now)
        }
        guard case .closedTransport = state, let due = nextTry, due <= now else { return }
        recovery.reopening.begin()
        open(at: now)
    }

    private mutating func open(at now: Instant) {
        guard let turns else { return }
        switch recovery.source {
        case .port(let port):
            guard port.isPluggedIn else {
                return tryFailed(.transport(TransportError(.adapterRemoved, transport: port.name)), at: now)
            }
            opened(.success(PortTransport(port, for: turns)), at: now)
        case .transport(let name, let calls):
            do throws(TransportError) {
                let waker = turns.waker
                recovery.opener = try TransportOpener(recovery.name ?? name, calls) { waker.wake() }
            } catch {
                tryFailed(.transport(error), at: now)
            }
        }
    }

    private mutating func opened(_ outcome: TransportOpener.Outcome, at now: Instant) {
        switch outcome {
        case .success(let transport):
            do throws(TransportError) {
                state = .open(try decorated(transport))
            } catch {
                transport.close()
                return tryFailed(.transport(error), at: now)
            }
            watchNumber += 1
            shared.start(at: now)
        case .failure(let error): tryFailed(.transport(error), at: now)
        }
    }

    private mutating func tryFailed(_ cause: BluetoothError, at now: Instant) {
        guard recovery.hasBeenReady || options.retriesOpening else { return giveUp(cause) }
        options.reportRetry(cause)
        if !recovery.hasBeenReady {
            note(cause)
            shared.setStatus(.unavailable, at: now)
            watchArrivals()
        }
        // Arrivals reported so far belong to this attempt.
        arrivalsAreReady(at: now)
        var isAbsent = false
        if case .transport(let error) = cause.kind, case .noSuchAdapter = error.reason { isAbsent = true }
        recovery.reopening.failed(isAbsent: isAbsent, goesOn: !recovery.hasBeenReady, at: now)
        attendPort()
    }

    /// Handles the arrival of an adapter that may be the lost controller.
    mutating func arrivalsAreReady(at now: Instant) {
        guard let arrivals = recovery.arrivals, arrivals.drain() else { return }
        if arrivals.fileDescriptor < 0 {
            // The system closed the descriptor. Try to open another one.
            recovery.arrivals = nil
            watchArrivals()
            watchNumber += 1
        }
        recovery.reopening.arrived(at: now)
    }

    /// Stays attached to a port while its controller is unplugged, to notice its return.
    private mutating func attendPort() {
        guard case .port(let port) = recovery.source, case .closedTransport = state, let turns else { return }
        _ = turns.takeSeat(PortTransport.Seat(turns), on: port)
    }

    private mutating func note(_ cause: BluetoothError) {
        failure = cause
        turns?.publish(failure: cause)
    }

    private mutating func giveUp(_ cause: BluetoothError) {
        guard let turns else { return }
        close(cause, turns.mailbox)
    }
}
