import BluetoothBase
import BluetoothHCI

/// Controllers that fail, and controllers that are gone.
extension Host {
    /// The controller says that it failed, or shows it.
    mutating func controllerFailed(_ cause: HostResetCause, at now: Instant) {
        // One that is being reset already cannot be helped by another reset.
        guard bringUp.state != .asking(.reset) else { return }
        recover(from: cause, at: now)
    }

    /// Starts over with a controller that has lost its state, or that cannot be trusted to have kept it. Links are
    /// gone; what is wanted of the scanner, the advertiser and the initiator is begun anew once the controller is up.
    mutating func recover(from cause: HostResetCause, at now: Instant) {
        guard bringUp.isUnderWay else { return }
        if let upSince = bringUp.upSince, upSince.duration(to: now) >= BringUp.probation { bringUp.failures = 0 }
        bringUp.failures += 1
        guard bringUp.attempts < BringUp.maximumAttempts, bringUp.failures <= BringUp.maximumFailures else {
            return fail(cause.failure, at: now)
        }
        events.append(.controller(.resetting(cause)))
        for slot in links.used {
            // Nobody was told of these links yet: the attempts that led to them simply go on.
            guard let attempt = links.at[slot].attempt, !links.at[slot].wasAnnounced else { continue }
            links.at[slot].attempt = nil
            initiator.attempts.append(attempt)
        }
        forgetController(.controllerReset, at: now)
        beginBringUp(at: now)
    }

    /// The controller is gone: unplugged, or no longer to be reached. What comes of it is not to be handed to `receive`
    /// any more.
    ///
    /// Links, calls on them and attempts to connect end with their events, and nothing is scanned for any more.
    /// Published services stay, and what was advertised is advertised again once the host has been started anew, with
    /// this controller or another one.
    public mutating func controllerLost(at now: Instant) {
        bringUp = BringUp()
        forgetController(.notReady, at: now)
        abandonAttempts(.notReady)
        if scanner.wanted != nil {
            scanner.wanted = nil
            events.append(.controller(.scanningFailed(.notReady)))
        }
        if advertiser.wanted != nil, !advertiser.hasAnnounced {
            advertiser.wanted = nil
            events.append(.controller(.advertisingFailed(.notReady)))
        }
    }

    /// Takes it that the controller has stopped everything, and knows of no link.
    mutating func forgetController(_ error: HostError, at now: Instant) {
        controller = nil
        abandonCommands(error)
        for slot in links.slots where links.at[slot].isInUse { removeLink(slot, reason: .hardwareFailure, at: now) }
        scanner.activity = .idle
        scanner.isPaused = false
        scanner.watchdog = ScanWatchdog()
        advertiser.activity = .idle
        advertiser.isPaused = false
        initiator.reset()
        flow.reset(bufferCount: 0)
        outbox.removeAll()
    }
}

extension HostResetCause {
    /// What to report when resetting does not help.
    fileprivate var failure: HostFailure {
        switch self {
        case .commandTimedOut(let opcode): .controllerNotResponding(opcode)
        case .hardwareError(let code): .hardwareError(code)
        case .malformedPacket: .malformedPacket
        }
    }
}
