import BluetoothBase
import BluetoothHCI
import BluetoothHost
import HCITransport

/// Getting a controller, at first and after a loss.
struct Recovery {
    /// Whether to recover a lost controller.
    let isEnabled: Bool
    let source: ControllerSource
    /// Whether the adapter has ever been ready.
    var hasBeenReady = false
    var reopening = Reopening()
    /// The transport's name for the controller, if that finds it under another number as well.
    var name: TransportName?
    var arrivals: (any Arrivals)?
    /// The current attempt.
    var opener: TransportOpener?

    init(_ source: ControllerSource, isEnabled: Bool) {
        self.source = source
        self.isEnabled = isEnabled
    }

    /// Stops waiting.
    mutating func end() {
        opener?.cancel()
        opener = nil
        arrivals?.close()
        arrivals = nil
    }
}

/// The loss of the controller, and its return. The first opening counts as a return.
extension RunnerCore {
    /// Begins to open the transport.
    mutating func begin(at now: Instant) {
        recovery.reopening.begin()
        open(at: now)
    }

    /// The transport has failed, or the controller was given up.
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

    /// The host may have given its controller up, or found it ready.
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

    // MARK: - Getting it back

    private mutating func watchArrivals() {
        // Before the first attempt, so that no arrival is missed.
        recovery.arrivals = recovery.arrivals ?? recovery.source.watchArrivals()
        recovery.reopening.isToldOfArrivals = recovery.arrivals != nil
    }

    /// When the next attempt is due.
    var nextTry: Instant? {
        guard case .closedTransport = state, recovery.source.isWorthTrying else { return nil }
        return recovery.reopening.nextTry
    }

    /// Continues to get the controller, as far as possible now.
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
        // The arrivals so far belong to this attempt.
        arrivalsAreReady(at: now)
        var isAbsent = false
        if case .transport(let error) = cause, case .noSuchAdapter = error.reason { isAbsent = true }
        recovery.reopening.failed(isAbsent: isAbsent, goesOn: !recovery.hasBeenReady, at: now)
        attendPort()
    }

    /// Something has arrived that may be the controller.
    mutating func arrivalsAreReady(at now: Instant) {
        guard let arrivals = recovery.arrivals, arrivals.drain() else { return }
        if arrivals.fileDescriptor < 0 {
            // The system has closed it, and may provide another.
            recovery.arrivals = nil
            watchArrivals()
            watchNumber += 1
        }
        recovery.reopening.arrived(at: now)
    }

    /// Stays on a port while its controller is unplugged, to notice its return.
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
