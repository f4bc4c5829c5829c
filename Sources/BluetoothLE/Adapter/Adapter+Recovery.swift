import BluetoothBase
import BluetoothHost
import HCITransport
import VirtualRadio

/// What it takes to get back a controller that was lost.
struct Recovery {
    /// Whether it is to be got back.
    let isEnabled: Bool
    let source: ControllerSource
    /// Whether the adapter has ever been ready: before, `Adapter.open` is what fails.
    var isArmed = false
    var reopening = Reopening()
    /// What the transport calls the controller, where that finds it under another number too.
    var name: TransportName?
    var arrivals: (any Arrivals)?
    /// The try that is under way.
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

/// The loss of the controller, and its return.
extension Adapter {
    /// The transport that is in use, if any.
    var transport: (any HCITransport)? {
        switch state {
        case .open(let transport): transport
        case .removed(let transport): transport
        case .opening, .closed: nil
        }
    }

    /// The transport has failed, or the controller was given up.
    func controllerLost(_ cause: BluetoothError) {
        guard recovery.isEnabled, recovery.isArmed else { return shutDown(cause) }
        switch state {
        case .opening, .closed: return
        case .open(let transport):
            transport.close()
            state = .removed(nil)
            endEverything()
            publish(.removed(cause))
            beginRecovery(transport.reopeningName)
        case .removed(let transport):
            transport?.close()
            state = .removed(nil)
            host.controllerLost(at: now)
            // There was nothing yet that anybody waits for.
            while host.events.next() != nil {}
            tryFailed(isAbsent: false)
        }
        watchNumber += 1
        attendPort()
    }

    /// Ends what the controller was needed for, each thing once. What is published and what is advertised stays wanted.
    private func endEverything() {
        resumeAll(where: { $0.link == nil }, with: .failure(.adapterRemoved))
        for scan in scans { scan.sightings.finish(.adapterRemoved) }
        scans = []
        lostAttempts = [:]
        host.controllerLost(at: now)
        // The links end as links do; whatever else the host tells has been told.
        while let event = host.events.next() {
            if case .link(let link, .disconnected) = event { linkDisconnected(link, .adapterRemoved) }
        }
    }

    // MARK: - Getting it back

    private func beginRecovery(_ name: TransportName?) {
        recovery.name = name ?? recovery.name
        // Before the first try, so that none who comes is missed.
        recovery.arrivals = recovery.source.watchArrivals()
        recovery.reopening.isToldOfArrivals = recovery.arrivals != nil
        recovery.reopening.lost(at: now)
    }

    /// When the next try is due.
    var nextTry: Instant? {
        guard case .removed(nil) = state, recovery.source.isWorthTrying else { return nil }
        return recovery.reopening.nextTry
    }

    /// Goes on with getting the controller back, as far as that is possible now.
    func reopen() {
        guard case .removed(nil) = state else { return }
        if let outcome = recovery.opener?.take() {
            recovery.opener = nil
            reopened(outcome)
        }
        guard let due = nextTry, due <= now else { return }
        recovery.reopening.begin()
        switch recovery.source {
        case .port(let port):
            let transport = VirtualTransport(port, for: self)
            reopened(.success(transport))
        case .transport(let name, let calls):
            do throws(TransportError) {
                recovery.opener = try TransportOpener(recovery.name ?? name, calls) { [executor] in executor.wake() }
            } catch {
                tryFailed(isAbsent: false)
            }
        }
    }

    private func reopened(_ outcome: TransportOpener.Outcome) {
        switch outcome {
        case .success(let transport):
            state = .removed(recorded(transport))
            watchNumber += 1
            host.start(at: now)
        case .failure(let error):
            if case .noSuchAdapter = error.reason { tryFailed(isAbsent: true) } else { tryFailed(isAbsent: false) }
        }
    }

    private func tryFailed(isAbsent: Bool) {
        // What has come up to now belongs to this try.
        arrivalsAreReady()
        recovery.reopening.failed(isAbsent: isAbsent, at: now)
    }

    /// Something has come that may be the controller.
    func arrivalsAreReady() {
        guard let arrivals = recovery.arrivals, arrivals.drain() else { return }
        if arrivals.fileDescriptor < 0 {
            // The system has taken it away, and may give another.
            recovery.arrivals = recovery.source.watchArrivals()
            recovery.reopening.isToldOfArrivals = recovery.arrivals != nil
            watchNumber += 1
        }
        recovery.reopening.arrived(at: now)
    }

    /// The controller is up, for the first time or again.
    func controllerIsReady() {
        recovery.isArmed = true
        if case .removed(let transport?) = state {
            state = .open(transport)
            recovery.end()
            recovery.reopening.succeeded(at: now)
        }
        resume(.ready, with: .success(.done))
        publish(.ready)
    }

    /// Stays on the port of a radio while the controller is unplugged, to be told when it is back.
    private func attendPort() {
        guard case .port(let port) = recovery.source, case .removed(nil) = state else { return }
        port.attach(VirtualTransport.host(of: self))
    }
}
