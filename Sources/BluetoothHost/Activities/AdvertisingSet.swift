import BluetoothBase
import BluetoothHCI

/// One advertising set: what is wanted of it, and what the controller does about it. A controller without the extended commands has
/// one, which has no name there.
struct AdvertisingSet: Sendable {
    /// The commands that lead to advertising, or end it.
    enum Step: Equatable, Sendable {
        /// Parameters, addresses and data.
        case setUp
        case enable, disable
        /// Other data of its periodic advertising.
        case update
        /// Ends its periodic advertising.
        case silence
        /// Frees the set in the controller.
        case remove
    }

    private enum State: Sendable {
        case idle
        /// Commands that will lead to `running` are with the controller, or are to follow. A peer that connects before the last of
        /// them is answered may have ended what it started.
        case starting(AdvertisingParameters, rest: [any HCICommand], isUncertain: Bool)
        case running(AdvertisingParameters)
        case stopping
        case removing
    }

    private struct Wanted: Sendable {
        let parameters: AdvertisingParameters
        /// When it ends by itself.
        let end: Instant?
        /// Whether its start has been reported.
        var isAnnounced = false

        /// How much of its time is left.
        func left(at now: Instant) -> Duration? {
            guard let end, let limit = parameters.limit else { return nil }
            return min(limit, now.duration(to: end))
        }
    }

    let handle: AdvertisingHandle
    private var wanted: Wanted?
    private var state: State = .idle
    /// Whether the controller knows a set with this handle, so that it is to be removed before it is set up anew: what it holds
    /// may not fit what is wanted next.
    private(set) var exists = false
    /// Whether its periodic advertising may be on, so that it is to be ended before the set is removed.
    private var isPeriodic = false
    /// What the controller holds of it, and with which addresses.
    private var held: (parameters: AdvertisingParameters, addresses: Advertiser.Addresses)?
    /// Whether it has only yielded. Its periodic advertising goes on meanwhile, which needs no set that is enabled (Core 5.4,
    /// Vol 4, Part E, 7.8.63), so that nobody loses it.
    private var isPaused = false
    /// Whether the extended commands are used for it.
    private var isExtended = false
    /// What becomes of advertising that the controller ends with an error.
    private var backoff = Backoff(limit: .seconds(1))

    init(handle: AdvertisingHandle) { self.handle = handle }

    /// When something is due.
    var nextDeadline: Instant? {
        guard let wanted else { return nil }
        guard case .idle = state else { return wanted.end }
        return earliest(wanted.end, backoff.deadline)
    }

    /// Whether the controller neither advertises nor is about to begin or stop.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// Whether its periodic advertising goes on, be it enabled itself or have only yielded.
    var isPeriodicOnAir: Bool {
        if case .running = state { isPeriodic } else { isPaused }
    }

    /// Whether links that come to nothing keep it from the air for a while.
    var waitsForConnections: Bool { isIdle && wanted?.parameters.isConnectable == true }

    /// Whether there is nothing left to be done about it.
    var isOver: Bool { isIdle && !exists && wanted == nil }

    /// What is to be advertised.
    var parameters: AdvertisingParameters? { wanted?.parameters }

    /// Whether anything is to be advertised.
    var isWanted: Bool { wanted != nil }

    /// Which activity it is that may have to yield.
    var activity: RadioArbiter.Activity {
        wanted?.parameters.isConnectable == false ? .otherAdvertising : .connectableAdvertising
    }

    /// Whether a peer may have connected: also while advertising is being started or stopped.
    var acceptsConnections: Bool {
        switch state {
        case .idle, .removing: false
        case .starting(let parameters, _, _), .running(let parameters): parameters.isConnectable
        case .stopping: true
        }
    }

    /// Whether the controller sends it at the high duty cycle.
    var isRunningAtHighDutyCycle: Bool {
        if case .running(let parameters) = state { parameters.isHighDutyCycle } else { false }
    }

    // MARK: Calls

    mutating func start(_ parameters: AdvertisingParameters, at now: Instant) {
        // At the high duty cycle the controller counts, and says when it is over. This is for one that does not.
        let grace = parameters.isHighDutyCycle && parameters.duration == nil ? Self.highDutyCycleGrace : .zero
        wanted = Wanted(parameters: parameters, end: parameters.limit.map { now.advanced(by: $0 + grace) })
    }

    /// How much longer than the controller the host waits for the end of what is sent at the high duty cycle.
    private static let highDutyCycleGrace = Duration.milliseconds(100)

    mutating func stop() { wanted = nil }

    /// Ends advertising whose time is over.
    mutating func fire(at now: Instant) -> [Effect] {
        guard let end = wanted?.end, end <= now else { return [] }
        return ended()
    }

    /// Moves one step towards what is wanted.
    ///
    /// - Parameter mayBegin: whether the controller can take another set, and nothing says to wait.
    mutating func advance(
        _ verdict: RadioArbiter.Verdict, mayBegin: Bool, _ addresses: Advertiser.Addresses, _ radio: RadioFeatures,
        at now: Instant
    ) -> [Effect] {
        guard verdict != .suspended else { return [] }
        switch state {
        case .idle:
            let goesOn = isPaused && wanted != nil && wanted?.parameters == held?.parameters
            if exists, !goesOn { return remove() }
            guard let wanted else { return [] }
            if let obstacle = wanted.parameters.obstacle(radio) { return giveUp(wanted.parameters, obstacle) }
            guard !backoff.waits(at: now), verdict == .proceed, mayBegin else { return [] }
            return setUp(wanted, addresses, radio, at: now)
        case .running(let current):
            guard verdict != .stop, let wanted, wanted.parameters != current else {
                isPaused = isPeriodic && verdict == .stop && wanted?.parameters == current
                return wanted == nil || verdict == .stop ? disable() : announce()
            }
            guard let update = wanted.parameters.update(from: current, of: handle) else { return disable() }
            state = .starting(wanted.parameters, rest: [], isUncertain: false)
            held?.parameters = wanted.parameters
            return send(update, .update)
        case .starting, .stopping, .removing:
            return []
        }
    }

    private mutating func setUp(
        _ wanted: Wanted, _ addresses: Advertiser.Addresses, _ radio: RadioFeatures, at now: Instant
    ) -> [Effect] {
        var commands = wanted.parameters.commands(
            for: handle, addresses, radio, left: wanted.left(at: now), resuming: isPaused ? held?.addresses : nil)
        isExtended = radio.isExtended
        exists = isExtended
        isPeriodic = wanted.parameters.periodic != nil
        held = (wanted.parameters, addresses)
        let first = commands.removeFirst()
        state = .starting(wanted.parameters, rest: commands, isUncertain: false)
        return send(first, commands.isEmpty ? .enable : .setUp)
    }

    private func send(_ command: any HCICommand, _ step: Step) -> [Effect] {
        [.send(command, for: .advertise(step, handle))]
    }

    private mutating func disable() -> [Effect] {
        state = .stopping
        guard isExtended else { return send(LESetAdvertisingEnable(isEnabled: false), .disable) }
        return send(
            LESetExtendedAdvertisingEnable(isEnabled: false, sets: [.init(advertisingHandle: handle)]), .disable)
    }

    private mutating func remove() -> [Effect] {
        state = .removing
        isPaused = false
        if isPeriodic {
            return send(LESetPeriodicAdvertisingEnable(enabling: [], advertisingHandle: handle), .silence)
        }
        return send(LERemoveAdvertisingSet(advertisingHandle: handle), .remove)
    }

    private mutating func announce() -> [Effect] {
        guard wanted?.isAnnounced == false else { return [] }
        wanted?.isAnnounced = true
        return [.report(.controller(.advertisingStarted(handle)))]
    }

    private mutating func ended() -> [Effect] {
        wanted = nil
        return [.report(.controller(.advertisingEnded(handle)))]
    }

    // MARK: The controller

    enum Outcome {
        case effects([Effect])
        /// The controller will not advertise like this.
        case refused(AdvertisingParameters)
    }

    /// Takes the answer to a step.
    mutating func answered(_ step: Step, _ status: HCIStatus) -> Outcome {
        switch (state, step) {
        case (.starting, .setUp) where status != .success && isPaused,
            (.starting, .enable) where status != .success && isPaused:
            // It is set up anew.
            isPaused = false
            state = .idle
        case (.starting(let parameters, _, _), .setUp) where status != .success,
            (.starting(let parameters, _, _), .enable) where status != .success:
            state = .idle
            return .refused(parameters)
        case (.starting(let parameters, var rest, let isUncertain), .setUp):
            guard !rest.isEmpty else { return .effects([]) }
            let next = rest.removeFirst()
            state = .starting(parameters, rest: rest, isUncertain: isUncertain)
            return .effects(send(next, rest.isEmpty ? .enable : .setUp))
        case (.starting(let parameters, _, let isUncertain), .update):
            // Whatever it answers, the set is still on the air.
            state = .running(parameters)
            guard status == .success else { return .refused(parameters) }
            return .effects(isUncertain ? restart() : [])
        case (.removing, .silence):
            isPeriodic = false
            return .effects(remove())
        case (.starting(let parameters, _, let isUncertain), .enable):
            isPaused = false
            state = .running(parameters)
            return .effects(isUncertain ? restart() : [])
        case (.stopping, .disable):
            // Whatever it answers, a controller that was asked to stop no longer advertises for this host.
            state = .idle
        case (.removing, .remove):
            state = .idle
            exists = false
        default: break
        }
        return .effects([])
    }

    /// Whether a refusal with this status may be due to something else that the controller does.
    func mayWorkLater(_ status: HCIStatus) -> Bool {
        // What worked before will work again.
        status == .commandDisallowed || status == .connectionLimitExceeded || wanted?.isAnnounced == true
    }

    /// Gives up what the controller refused, unless something else is wanted by now.
    mutating func giveUp(_ refused: AdvertisingParameters, _ error: HostError) -> [Effect] {
        guard wanted?.parameters == refused else { return [] }
        wanted = nil
        return [.report(.controller(.advertisingFailed(handle, error)))]
    }

    /// A peer has connected.
    ///
    /// - Parameter isOnly: whether it can have been through no other set: then the controller has stopped advertising this one by
    ///   itself (Vol 4, Part E, 7.8.9 and 7.8.56). Of several it is not known which one.
    mutating func peerConnected(isOnly: Bool) -> [Effect] {
        switch state {
        case .running(let parameters) where parameters.isConnectable:
            guard isOnly else { return disable() }
            state = .idle
        case .starting(let parameters, let rest, _) where parameters.isConnectable:
            state = .starting(parameters, rest: rest, isUncertain: true)
        case .idle, .starting, .running, .stopping, .removing: break
        }
        return []
    }

    /// LE Advertising Set Terminated (7.7.65.18). That a peer has connected was reported before.
    mutating func terminated(_ status: HCIStatus, at now: Instant) -> [Effect] {
        guard status != .success else { return [] }
        switch state {
        case .running(let parameters):
            state = .idle
            guard status == .advertisingTimeout || status == .limitReached else {
                backoff.failed(at: now)
                return []
            }
            return wanted?.parameters == parameters ? ended() : []
        case .starting(let parameters, let rest, _):
            state = .starting(parameters, rest: rest, isUncertain: true)
        case .idle, .stopping, .removing: break
        }
        return []
    }

    /// A peer has tried to connect and failed: starts over, since it is not known whether the controller still advertises.
    mutating func peerFailed() -> [Effect] {
        guard case .running(let parameters) = state, parameters.isConnectable else { return [] }
        return restart()
    }

    /// Starts over where it is not known whether the controller still advertises.
    private mutating func restart() -> [Effect] { disable() }

    /// The controller was reset. What is wanted stays wanted.
    mutating func reset() {
        state = .idle
        exists = false
        isPeriodic = false
        isPaused = false
        backoff.succeeded()
    }

    /// The controller is gone. What has been on the air will be again, with the next one.
    mutating func abandon(_ error: HostError) -> [Effect] {
        guard let wanted, !wanted.isAnnounced else { return [] }
        return giveUp(wanted.parameters, error)
    }
}
