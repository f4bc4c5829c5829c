import BluetoothBase
import BluetoothHCI

extension HostAdvertisingSet {
    /// The commands that start advertising, or end it.
    enum Step: Equatable, Sendable {
        /// Parameters, addresses and data.
        case setUp
        case enable, disable
        /// Replaces the data of the periodic advertising.
        case update
        /// Ends the periodic advertising.
        case silence
        /// Frees the set in the controller.
        case remove
    }

    enum Outcome {
        case effects([Effect])
        /// The controller refused these parameters. The effects stop a set that it may have started.
        case refused(AdvertisingParameters, [Effect] = [])
    }

    /// The state of the set in the controller.
    enum Phase: Hashable, Sendable {
        /// The set does not exist in the controller.
        case idle
        /// Commands that lead to `running` have been sent to the controller.
        case starting(Start)
        case running(Setup)
        /// The controller is advertising, and new periodic data has been sent to it.
        case updating(Start)
        /// The set is being disabled for a while. Its periodic advertising does not need an enabled set and continues
        /// (Core 5.4, Vol 4, Part E, 7.8.63), so that no receiver loses it.
        case pausing(Setup)
        case paused(Setup)
        /// Commands that enable a paused set again have been sent to the controller.
        case resuming(Start)
        case stopping(Setup)
        /// The set is disabled, but still exists in the controller. It is removed before it is set up again, because
        /// its contents may not fit the next request.
        case stopped(Setup)
        /// The periodic advertising of a set is being ended, before the set is removed.
        case silencing
        case removing
    }

    /// The contents of a set in the controller.
    struct Setup: Hashable, Sendable {
        let parameters: AdvertisingParameters
        let addresses: Advertiser.Addresses
        /// Whether the set uses the extended commands, so that it exists in the controller until it is removed.
        let isExtended: Bool

        /// Whether the set has periodic advertising.
        var isPeriodic: Bool { parameters.periodic != nil }

        /// The phase after advertising has ended for good.
        var ended: Phase { isExtended ? .stopped(self) : .idle }

        func with(_ parameters: AdvertisingParameters) -> Setup {
            Setup(parameters: parameters, addresses: addresses, isExtended: isExtended)
        }
    }

    /// A set that is being started.
    struct Start: Hashable, Sendable {
        let setup: Setup
        /// The commands that follow the pending one.
        var rest = CommandSequence()
        /// Whether the controller may have ended the advertising before it answered the last command, as it does when a
        /// peer connects.
        var isUncertain = false
    }

    /// The application's request.
    struct Wish: Hashable, Sendable {
        let parameters: AdvertisingParameters
        /// The time at which advertising ends automatically.
        let end: Instant?
        /// Whether its start has been reported.
        var isAnnounced = false

        /// The remaining duration.
        func left(at now: Instant) -> Duration? {
            guard let end, let limit = parameters.limit else { return nil }
            return min(limit, now.duration(to: end))
        }
    }
}

extension HostAdvertisingSet.Phase {
    /// Whether the controller is not advertising and is not about to start or stop.
    var isIdle: Bool {
        switch self {
        case .idle, .paused, .stopped: true
        case .starting, .running, .updating, .pausing, .resuming, .stopping, .silencing, .removing: false
        }
    }

    /// The set in the controller that must be removed before anything else; nil if none exists, or if it will be used
    /// again.
    func leftover(_ wish: HostAdvertisingSet.Wish?) -> HostAdvertisingSet.Setup? {
        switch self {
        case .stopped(let setup): setup
        case .paused(let setup): wish?.parameters == setup.parameters ? nil : setup
        case .idle, .starting, .running, .updating, .pausing, .resuming, .stopping, .silencing, .removing: nil
        }
    }

    var isPeriodicOnAir: Bool {
        switch self {
        case .running(let setup): setup.isPeriodic
        case .pausing, .paused, .resuming: true
        case .idle, .starting, .updating, .stopping, .stopped, .silencing, .removing: false
        }
    }

    var acceptsConnections: Bool {
        switch self {
        case .idle, .paused, .stopped, .silencing, .removing: false
        case .starting(let start), .updating(let start), .resuming(let start): start.setup.parameters.isConnectable
        case .running(let setup): setup.parameters.isConnectable
        case .pausing, .stopping: true
        }
    }

    /// The same phase, with the note that the controller may have ended advertising that it has not yet confirmed.
    var doubted: Self {
        switch self {
        case .starting(var start):
            start.isUncertain = true
            return .starting(start)
        case .updating(var start):
            start.isUncertain = true
            return .updating(start)
        case .resuming(var start):
            start.isUncertain = true
            return .resuming(start)
        case .idle, .running, .pausing, .paused, .stopping, .stopped, .silencing, .removing: return self
        }
    }

    var name: HostAdvertisingSet.PhaseName {
        switch self {
        case .idle: .idle
        case .starting: .starting
        case .running: .running
        case .updating: .updating
        case .pausing: .pausing
        case .paused: .paused
        case .resuming: .resuming
        case .stopping: .stopping
        case .stopped: .stopped
        case .silencing: .silencing
        case .removing: .removing
        }
    }
}
