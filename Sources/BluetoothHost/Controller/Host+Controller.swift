import BluetoothBase
import BluetoothHCI

/// Bring-up, recovery and loss of the controller.
extension Host {
    /// Starts to bring the controller up. `HostEvent.Controller.ready` or `.failed` will follow. Does nothing if
    /// bring-up has already begun. A controller that has failed is tried again.
    public mutating func start(at now: Instant) {
        guard !lifecycle.isUnderWay else { return }
        proceed(lifecycle.start(), at: now)
    }

    /// The properties of the controller; nil until it is up.
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

    /// Handles a failure that the controller reports or shows.
    mutating func controllerFailed(_ cause: HostResetCause, at now: Instant) {
        // If the controller is already being reset, another reset would not help.
        guard !lifecycle.isResetting else { return }
        recover(from: cause, at: now)
    }

    /// Resets a controller that has lost its state, or cannot be trusted to have kept it. All links end. The scanner,
    /// the advertiser and the initiator start again once the controller is up.
    mutating func recover(from cause: HostResetCause, at now: Instant) {
        guard lifecycle.isUnderWay else { return }
        let outcome = lifecycle.recover(from: cause, at: now)
        if case .failed = outcome { return proceed(outcome, at: now) }
        events.append(.controller(.resetting(cause)))
        for slot in links.used {
            // These links have not been reported yet, so the attempts that led to them continue.
            if let attempt = links.at[slot.index].life.takeAttempt() { initiator.resume(attempt) }
        }
        forgetController(.controllerReset, at: now)
        proceed(outcome, at: now)
    }

    /// Handles the loss of the controller: it was unplugged, or cannot be reached any more. Do not pass packets that it
    /// has sent to `receive` after this call.
    ///
    /// Links, calls on them, attempts to connect and scans end with their events. Published services stay. Sets that
    /// were advertised resume once the host has been started again, with this controller or another one.
    public mutating func controllerLost(at now: Instant) {
        lifecycle.lose()
        forgetController(.notReady, at: now)
        perform(initiator.abandon(.notReady), at: now)
        perform(synchronizer.abandon(.notReady), at: now)
        perform(scanner.abandon(.notReady), at: now)
        dropUnresolvedReports()
        perform(advertiser.abandon(.notReady), at: now)
    }

    /// Resets the host's view of the controller: it has no links and no activity is running.
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
