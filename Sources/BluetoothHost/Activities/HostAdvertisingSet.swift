import BluetoothBase
import BluetoothHCI

/// One advertising set: the application's request, and the state of the set in the controller. A controller without the
/// extended commands has one set, without a handle.
struct HostAdvertisingSet: Hashable, Sendable {
    let handle: AdvertisingHandle
    private var wish: Wish?
    private var phase: Phase = .idle
    /// Delays the next start after the controller has ended advertising with an error.
    private var backoff = Backoff(limit: .seconds(1))

    init(handle: AdvertisingHandle) { self.handle = handle }

    /// The next time at which something is due.
    var nextDeadline: Instant? {
        guard let wish else { return nil }
        return isIdle ? earliest(wish.end, backoff.deadline) : wish.end
    }

    /// Whether the controller is not advertising and is not about to start or stop.
    var isIdle: Bool { phase.isIdle }

    /// Whether the set takes up room in the controller.
    var takesRoom: Bool { phase != .idle }

    /// Whether the periodic advertising is on the air. It continues while the set is paused.
    var isPeriodicOnAir: Bool { phase.isPeriodicOnAir }

    /// Whether failed links delay the next start of this set.
    var waitsForConnections: Bool { isIdle && wish?.parameters.isConnectable == true }

    /// Whether there is nothing left to do for this set.
    var isOver: Bool { phase == .idle && wish == nil }

    /// The requested parameters; nil if the application has not requested the set.
    var parameters: AdvertisingParameters? { wish?.parameters }

    /// Whether the application has requested the set.
    var isWanted: Bool { wish != nil }

    /// The activity that the arbiter knows this set as.
    var activity: RadioArbiter.Activity {
        wish?.parameters.isConnectable == false ? .otherAdvertising : .connectableAdvertising
    }

    /// Whether a peer may have connected, including while advertising is being started or stopped.
    var acceptsConnections: Bool { phase.acceptsConnections }

    /// Whether the set is running at the high duty cycle.
    var isRunningAtHighDutyCycle: Bool {
        if case .running(let setup) = phase { setup.parameters.isHighDutyCycle } else { false }
    }

    // MARK: Calls

    mutating func start(_ parameters: AdvertisingParameters, at now: Instant) {
        // The controller limits high duty cycle advertising itself and reports its end. The grace period covers a
        // controller that doesn't.
        let grace = parameters.isHighDutyCycle && parameters.duration == nil ? Self.highDutyCycleGrace : .zero
        wish = Wish(parameters: parameters, end: parameters.limit.map { now.advanced(by: $0 + grace) })
    }

    /// The time that the host waits, beyond the controller's limit, for the end of high duty cycle advertising.
    private static let highDutyCycleGrace = Duration.milliseconds(100)

    mutating func stop() { wish = nil }

    /// Ends advertising whose duration has elapsed.
    mutating func fire(at now: Instant) -> [Effect] {
        guard let end = wish?.end, end <= now else { return [] }
        return ended()
    }

    /// Moves the set one step towards the requested state.
    ///
    /// - Parameter mayBegin: whether the controller has room for another set, and no delay is pending.
    mutating func advance(
        _ verdict: RadioArbiter.Verdict, mayBegin: Bool, _ addresses: Advertiser.Addresses, _ radio: RadioFeatures,
        at now: Instant
    ) -> [Effect] {
        guard verdict != .suspended else { return [] }
        switch phase {
        case .idle, .paused, .stopped:
            if let setup = phase.leftover(wish) { return remove(setup) }
            guard let wish else { return [] }
            if let obstacle = wish.parameters.obstacle(radio) { return giveUp(wish.parameters, obstacle) }
            guard !backoff.waits(at: now), verdict == .proceed, mayBegin else { return [] }
            return setUp(wish, addresses, radio, at: now)
        case .running(let setup):
            guard verdict != .stop, let wish, wish.parameters != setup.parameters else {
                guard wish == nil || verdict == .stop else { return announce() }
                return disable(setup, pausing: wish?.parameters == setup.parameters && setup.isPeriodic)
            }
            guard let update = wish.parameters.update(from: setup.parameters, of: handle) else {
                return disable(setup)
            }
            phase = .updating(Start(setup: setup.with(wish.parameters)))
            return send(update, .update)
        case .starting, .updating, .pausing, .resuming, .stopping, .silencing, .removing: return []
        }
    }

    private mutating func setUp(
        _ wish: Wish, _ addresses: Advertiser.Addresses, _ radio: RadioFeatures, at now: Instant
    ) -> [Effect] {
        let former: Setup? = if case .paused(let setup) = phase { setup } else { nil }
        let setup = Setup(parameters: wish.parameters, addresses: addresses, isExtended: radio.isExtended)
        let commands = wish.parameters.commands(
            for: handle, addresses, radio, left: wish.left(at: now), resuming: former?.addresses)
        return proceed(Start(setup: setup, rest: CommandSequence(commands)), isResuming: former != nil)
    }

    /// Sends the next of the commands that start advertising.
    private mutating func proceed(_ start: Start, isResuming: Bool) -> [Effect] {
        var start = start
        guard let next = start.rest.popFirst() else { return [] }
        phase = isResuming ? .resuming(start) : .starting(start)
        return send(next, start.rest.isEmpty ? .enable : .setUp)
    }

    private func send(_ command: any HCICommand, _ step: Step) -> [Effect] {
        [.send(command, for: .advertise(step, handle))]
    }

    /// Takes the set off the air. Also used to start over if it is unknown whether the controller is still advertising.
    ///
    /// - Parameter pausing: whether the set will be enabled again unchanged.
    private mutating func disable(_ setup: Setup, pausing isPause: Bool = false) -> [Effect] {
        phase = isPause ? .pausing(setup) : .stopping(setup)
        guard setup.isExtended else { return send(LESetAdvertisingEnable(isEnabled: false), .disable) }
        return send(
            LESetExtendedAdvertisingEnable(isEnabled: false, sets: [.init(advertisingHandle: handle)]), .disable)
    }

    private mutating func remove(_ setup: Setup) -> [Effect] {
        guard setup.isPeriodic else { return remove() }
        phase = .silencing
        return send(LESetPeriodicAdvertisingEnable(enabling: [], advertisingHandle: handle), .silence)
    }

    private mutating func remove() -> [Effect] {
        phase = .removing
        return send(LERemoveAdvertisingSet(advertisingHandle: handle), .remove)
    }

    private mutating func announce() -> [Effect] {
        guard wish?.isAnnounced == false else { return [] }
        wish?.isAnnounced = true
        return [.report(.controller(.advertisingStarted(handle)))]
    }

    private mutating func ended() -> [Effect] {
        wish = nil
        return [.report(.controller(.advertisingEnded(handle)))]
    }

    // MARK: The controller

    /// Handles the answer to the pending command.
    mutating func answered(_ step: Step, _ status: HCIStatus) -> Outcome {
        switch phase {
        case .starting(let start):
            let parameters = start.setup.parameters
            // The answer may have been truncated before its status, so the set may be on the air.
            if step == .enable, status == .unspecifiedError { return .refused(parameters, disable(start.setup)) }
            guard status == .success else {
                phase = start.setup.ended
                return .refused(parameters)
            }
            return .effects(step == .enable ? began(start) : proceed(start, isResuming: false))
        case .resuming(let start):
            if step == .enable, status == .unspecifiedError { return .effects(disable(start.setup)) }
            guard status == .success else {
                // The set is configured again from the beginning.
                phase = start.setup.ended
                return .effects([])
            }
            return .effects(step == .enable ? began(start) : proceed(start, isResuming: true))
        case .updating(let start):
            // Whatever the answer is, the set is still on the air.
            guard status == .success else {
                phase = .running(start.setup)
                return .refused(start.setup.parameters)
            }
            return .effects(began(start))
        case .silencing: return .effects(remove())
        // Whatever the answer is, a controller that was asked to stop no longer advertises for this host.
        case .pausing(let setup): phase = .paused(setup)
        case .stopping(let setup): phase = setup.ended
        case .removing: phase = .idle
        case .idle, .running, .paused, .stopped: break
        }
        return .effects([])
    }

    private mutating func began(_ start: Start) -> [Effect] {
        phase = .running(start.setup)
        return start.isUncertain ? disable(start.setup) : []
    }

    /// Whether a refusal with this status may be caused by another activity of the controller.
    func mayWorkLater(_ status: HCIStatus) -> Bool {
        // A set that was on the air before can be on the air again.
        status == .commandDisallowed || status == .connectionLimitExceeded || wish?.isAnnounced == true
    }

    /// Fails the request that the controller refused, unless the application has requested something else since.
    mutating func giveUp(_ refused: AdvertisingParameters, _ error: HostError) -> [Effect] {
        guard wish?.parameters == refused else { return [] }
        wish = nil
        return [.report(.controller(.advertisingFailed(handle, error)))]
    }

    /// Handles a connection from a peer.
    ///
    /// - Parameter isOnly: whether only this set can have led to the link. The controller has then stopped advertising
    ///   it automatically (Vol 4, Part E, 7.8.9 and 7.8.56). If several sets accept connections, the host cannot tell
    ///   which one it was.
    mutating func peerConnected(isOnly: Bool) -> [Effect] {
        guard acceptsConnections else { return [] }
        if case .running(let setup) = phase {
            guard isOnly else { return disable(setup) }
            phase = setup.ended
        } else {
            phase = phase.doubted
        }
        return []
    }

    /// Handles LE Advertising Set Terminated (7.7.65.18). If its status is Success, the connection has been reported
    /// before.
    mutating func terminated(_ status: HCIStatus, at now: Instant) -> [Effect] {
        guard status != .success else { return [] }
        guard case .running(let setup) = phase else {
            phase = phase.doubted
            return []
        }
        phase = setup.ended
        guard status == .advertisingTimeout || status == .limitReached else {
            backoff.failed(at: now)
            return []
        }
        return wish?.parameters == setup.parameters ? ended() : []
    }

    /// Handles a peer's failed attempt to connect. It is unknown whether the controller is still advertising, so the
    /// set starts over.
    mutating func peerFailed() -> [Effect] {
        guard case .running(let setup) = phase, setup.parameters.isConnectable else { return [] }
        return disable(setup)
    }

    /// Handles a reset of the controller. A requested set stays requested.
    mutating func reset() {
        phase = .idle
        backoff.succeeded()
    }

    /// Handles the loss of the controller. A set that has been on the air resumes with the next controller.
    mutating func abandon(_ error: HostError) -> [Effect] {
        guard let wish, !wish.isAnnounced else { return [] }
        return giveUp(wish.parameters, error)
    }

    var phaseName: PhaseName { phase.name }
}
