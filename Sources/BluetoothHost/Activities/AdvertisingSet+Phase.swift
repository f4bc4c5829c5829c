import BluetoothBase
import BluetoothHCI

extension AdvertisingSet {
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

    enum Outcome {
        case effects([Effect])
        /// The controller will not advertise like this. The effects stop a set that it may have started.
        case refused(AdvertisingParameters, [Effect] = [])
    }

    /// The state of the set in the controller.
    enum Phase: Hashable, Sendable {
        /// The controller does not know the set.
        case idle
        /// Commands that lead to `running` are with the controller.
        case starting(Start)
        case running(Setup)
        /// The controller advertises, and is receiving other periodic data.
        case updating(Start)
        /// The set is being disabled for a while. Its periodic advertising goes on, which needs no set that is enabled (Core 5.4,
        /// Vol 4, Part E, 7.8.63), so that nobody loses it.
        case pausing(Setup)
        case paused(Setup)
        /// Commands that enable a paused set again are with the controller.
        case resuming(Start)
        case stopping(Setup)
        /// The controller still knows the set. It is removed before it is set up again: what it holds may not fit what is wanted
        /// next.
        case stopped(Setup)
        /// The periodic advertising of a set that will be removed is being ended.
        case silencing
        case removing
    }

    /// The contents of a set in the controller.
    struct Setup: Hashable, Sendable {
        let parameters: AdvertisingParameters
        let addresses: Advertiser.Addresses
        /// Whether the extended commands are used for it, so that the controller knows the set until it is removed.
        let isExtended: Bool

        /// Whether its periodic advertising is on.
        var isPeriodic: Bool { parameters.periodic != nil }

        /// The phase after it has left the air for good.
        var ended: Phase { isExtended ? .stopped(self) : .idle }

        func with(_ parameters: AdvertisingParameters) -> Setup {
            Setup(parameters: parameters, addresses: addresses, isExtended: isExtended)
        }
    }

    /// The way to the air.
    struct Start: Hashable, Sendable {
        let setup: Setup
        /// The commands that follow the one with the controller.
        var rest = CommandSequence()
        /// Whether the controller may have ended the advertising before it answered the last command, as it does when a peer
        /// connects.
        var isUncertain = false
    }

    /// The application's wish.
    struct Wish: Hashable, Sendable {
        let parameters: AdvertisingParameters
        /// When it ends automatically.
        let end: Instant?
        /// Whether its start has been reported.
        var isAnnounced = false

        /// How much of its time is left.
        func left(at now: Instant) -> Duration? {
            guard let end, let limit = parameters.limit else { return nil }
            return min(limit, now.duration(to: end))
        }
    }
}

extension AdvertisingSet.Phase {
    /// Whether the controller neither advertises nor is about to begin or stop.
    var isIdle: Bool {
        switch self {
        case .idle, .paused, .stopped: true
        case .starting, .running, .updating, .pausing, .resuming, .stopping, .silencing, .removing: false
        }
    }

    /// The set in the controller that must be removed before anything else; nil if there is none, or if it will be used again.
    func leftover(_ wish: AdvertisingSet.Wish?) -> AdvertisingSet.Setup? {
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

    /// The same phase where the controller may have ended what it has not yet confirmed.
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

    var name: AdvertisingSet.PhaseName {
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
