import BluetoothBase
import BluetoothHCI

/// Bring-up, recovery and loss of the controller.
extension Host {
    /// Begins to bring the controller up. `HostEvent.Controller.ready` or `.failed` will follow. Does nothing where that
    /// has begun; a controller that was given up gets another chance.
    public mutating func start(at now: Instant) {
        guard !lifecycle.isUnderWay else { return }
        proceed(lifecycle.start(), at: now)
    }

    /// What the controller can do; nil until it is up.
    public var controller: ControllerInformation? { lifecycle.information }

    mutating func proceed(_ outcome: ControllerLifecycle.Outcome, at now: Instant) {
        switch outcome {
        case .effects(let effects): perform(effects, at: now)
        case .ready(let information):
            aclDataLength = information.aclDataLength
            flow.reset(bufferCount: information.aclBufferCount)
            receiveFlow = ReceiveFlow(
                bufferCount: information.controlsReceiving
                    ? min(configuration.receiveBufferCount, ReceiveFlow.maximumBufferCount) : 0)
            ownAddressIsKnown(information.address)
            privacy.start(information)
            radio = RadioFeatures(information)
            publishAddressResolution(information.resolvingListSize > 0)
            events.append(.controller(.ready))
            perform(advertiser.fit(radio), at: now)
            updatePrivacy(at: now)
            advanceActivities(at: now)
        case .failed(let failure):
            forgetController(.notReady, at: now)
            perform(initiator.abandon(.notReady), at: now)
            perform(synchronizer.abandon(.notReady), at: now)
            events.append(.controller(.failed(failure)))
        }
    }

    /// The controller says that it failed, or shows it.
    mutating func controllerFailed(_ cause: HostResetCause, at now: Instant) {
        // One that is being reset already would not be helped by another reset.
        guard !lifecycle.isResetting else { return }
        recover(from: cause, at: now)
    }

    /// Starts over with a controller that has lost its state, or that cannot be trusted to have kept it. Links are
    /// gone; what is wanted of scanner, advertiser and initiator begins again once the controller is up.
    mutating func recover(from cause: HostResetCause, at now: Instant) {
        guard lifecycle.isUnderWay else { return }
        let outcome = lifecycle.recover(from: cause, at: now)
        if case .failed = outcome { return proceed(outcome, at: now) }
        events.append(.controller(.resetting(cause)))
        for slot in links.used {
            // These links have not been reported yet: the attempts that led to them simply go on.
            if let attempt = links.at[slot.index].life.takeAttempt() { initiator.resume(attempt) }
        }
        forgetController(.controllerReset, at: now)
        proceed(outcome, at: now)
    }

    /// The controller is gone: unplugged, or no longer reachable. Packets it has sent must no longer be handed to
    /// `receive`.
    ///
    /// Links, calls on them and attempts to connect end with their events, and nothing is scanned for any more.
    /// Published services stay. What was advertised will be again once the host has been started again, with this
    /// controller or another one.
    public mutating func controllerLost(at now: Instant) {
        lifecycle.lose()
        forgetController(.notReady, at: now)
        perform(initiator.abandon(.notReady), at: now)
        perform(synchronizer.abandon(.notReady), at: now)
        perform(scanner.abandon(.notReady), at: now)
        dropUnresolvedReports()
        perform(advertiser.abandon(.notReady), at: now)
    }

    /// Assumes that the controller has stopped everything, and has no link.
    private mutating func forgetController(_ error: HostError, at now: Instant) {
        abandonCommands(error)
        for slot in links.slots where links.at[slot.index].isInUse {
            removeLink(slot, reason: .hardwareFailure, at: now)
        }
        scanner.reset()
        advertiser.reset()
        initiator.reset()
        perform(synchronizer.reset(error == .controllerReset ? .controllerReset : .adapterRemoved), at: now)
        responses.reset()
        privacy.reset()
        arbiter.reset()
        flow.reset(bufferCount: 0)
        receiveFlow = ReceiveFlow(bufferCount: 0)
        outbox.removeAll()
    }
}
