import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Scanning: what is wanted, and what the controller does about it.
struct Scanner: Hashable, Sendable {
    /// The commands that lead to scanning, or end it.
    enum Step: Equatable, Sendable {
        case setParameters, enable, disable
    }

    private var wanted: ScanParameters?
    /// Whether the host itself looks for peers, to connect to them.
    private(set) var isSearching = false
    /// On which PHYs the controller has to listen for advertisers that the host synchronizes to; nil where it need not.
    private var followed: ScanPHYs?
    private var activity: Activity<ScanParameters> = .idle
    /// Whether it was started by the extended commands.
    private var isExtended = false
    /// Whether no scan of a former program can be running. Reset does not end scanning in every controller.
    private var isCleared = false
    private var watchdog = ScanWatchdog()
    /// Extended advertising that was received in part.
    private(set) var reassembly = AdvertisingReassembly()
    /// What the controller makes of searches.
    private var backoff = Backoff()

    /// Whether reports are of use to anybody.
    var isWanted: Bool { wanted != nil }

    /// Whether reports are of use to the host. Those of a scan that was stopped, or that ended with a reset, are not, even where
    /// another one is to follow: they may be the rest of data whose beginning is forgotten.
    @inline(__always)
    var isListening: Bool {
        switch activity {
        case .idle, .stopping: false
        case .starting, .running: wanted != nil || isSearching
        }
    }

    /// How to scan for all who want that. A search must not miss a device that was reported before it began.
    private var needed: ScanParameters? {
        guard isNeeded else { return wanted }
        var parameters = wanted ?? Self.search
        if isSearching { parameters.reportsDuplicates = true }
        if wanted == nil, !isSearching { parameters.phys = [] }
        if let followed { parameters.phys.formUnion(followed) }
        return parameters
    }

    /// Whether the host scans for its own purposes.
    private var isNeeded: Bool { isSearching || followed != nil }

    /// Half of the time, so that links and advertising go on.
    private static let search = ScanParameters(
        isActive: false, interval: .milliseconds(60), window: .milliseconds(30), reportsDuplicates: false)

    /// Whether the controller neither scans nor is about to begin or stop.
    var isIdle: Bool {
        if case .idle = activity { true } else { false }
    }

    var nextDeadline: Instant? { earliest(watchdog.deadline, isNeeded && isIdle ? backoff.deadline : nil) }

    // MARK: Calls

    mutating func start(_ parameters: ScanParameters) { wanted = parameters }

    mutating func stop() {
        wanted = nil
        watchdog = ScanWatchdog()
        reassembly.removeAll()
    }

    /// Looks for peers that are to be connected to, or does not any more. False where that is no news.
    mutating func search(_ isSearching: Bool) -> Bool {
        guard isSearching != self.isSearching else { return false }
        self.isSearching = isSearching
        return true
    }

    /// Listens for advertisers that the host synchronizes to, or does not any more.
    mutating func follow(_ phys: ScanPHYs?) { followed = phys }

    /// Moves one step towards what is wanted.
    mutating func advance(
        _ verdict: RadioArbiter.Verdict, ownAddressType: OwnAddressType, _ radio: RadioFeatures, at now: Instant
    ) -> [Effect] {
        guard verdict != .suspended else { return [] }
        switch activity {
        case .idle:
            guard verdict == .proceed, let wanted = needed, isWanted || !backoff.waits(at: now) else { return [] }
            if let obstacle = wanted.obstacle(radio) { return giveUp(wanted, obstacle, at: now) }
            activity = .starting(wanted)
            isExtended = radio.isExtended
            return [.send(wanted.command(ownAddressType, radio), for: .scan(.setParameters))]
        case .running(let current):
            return needed == current && verdict != .stop ? [] : disable()
        case .starting, .stopping:
            return []
        }
    }

    private mutating func disable() -> [Effect] {
        activity = .stopping
        watchdog.stop()
        reassembly.removeAll()
        let command: any HCICommand =
            isExtended ? LESetExtendedScanEnable(isEnabled: false) : LESetScanEnable(isEnabled: false)
        return [.send(command, for: .scan(.disable))]
    }

    // MARK: The controller

    enum Outcome {
        case effects([Effect])
        /// The controller will not scan like this. The effects stop a scan that it may have started.
        case refused(ScanParameters, [Effect] = [])
    }

    /// Takes the answer to a step.
    ///
    /// - Parameter silenceLimit: after how long a silence the scan is restarted; nil for never.
    mutating func answered(_ step: Step, _ status: HCIStatus, silenceLimit: Duration?, at now: Instant) -> Outcome {
        switch (activity, step) {
        // Also the outcome of an answer that was cut off before its status: the controller may be scanning.
        case (.starting(let parameters), .enable) where status == .unspecifiedError:
            return .refused(parameters, disable())
        case (.starting, .setParameters) where status == .commandDisallowed && !isCleared:
            return .effects(disable())
        case (.starting(let parameters), .setParameters), (.starting(let parameters), .enable):
            guard status == .success else {
                activity = .idle
                return .refused(parameters)
            }
            isCleared = true
            guard step == .enable else {
                let filters = !parameters.reportsDuplicates
                let command: any HCICommand =
                    isExtended
                    ? LESetExtendedScanEnable(isEnabled: true, filterDuplicates: filters ? .enabled : .disabled)
                    : LESetScanEnable(isEnabled: true, filterDuplicates: filters)
                return .effects([.send(command, for: .scan(.enable))])
            }
            activity = .running(parameters)
            backoff.succeeded()
            // A controller that reports each advertiser once has reason to be silent.
            if parameters.reportsDuplicates, let silenceLimit { watchdog.start(silenceLimit, at: now) }
        case (.stopping, .disable):
            // Whatever it answers, a controller that was asked to stop no longer scans for this host.
            activity = .idle
            isCleared = true
        default: break
        }
        return .effects([])
    }

    /// Gives up a scan that the controller refused, unless something else is wanted by now.
    mutating func giveUp(_ refused: ScanParameters, _ error: HostError, at now: Instant) -> [Effect] {
        guard needed == refused else { return [] }
        if isNeeded { backoff.failed(at: now) }
        guard isWanted else { return [] }
        wanted = nil
        return [.report(.controller(.scanningFailed(error)))]
    }

    /// The controller has reported something.
    @inline(__always)
    mutating func reportReceived(at now: Instant) { watchdog.reportReceived(at: now) }

    /// A fragment of extended advertising was reported.
    ///
    /// - Returns: what is whole now, or given up.
    mutating func receive(
        _ fragment: Span<UInt8>, _ status: AdvertisingReassembly.Status, _ header: AdvertisingReassembly.Header,
        at now: Instant
    ) -> [AdvertisingReassembly.Whole] {
        reassembly.receive(fragment, status, header, at: now)
    }

    /// A scan that has fallen silent is stopped, which makes it start again.
    mutating func fire(at now: Instant) -> [Effect] {
        guard watchdog.fire(at: now), case .running = activity else { return [] }
        return disable()
    }

    /// Whether a search that the controller refused is to be tried again.
    func retriesSearch(at now: Instant) -> Bool {
        isNeeded && isIdle && backoff.deadline.map { $0 <= now } ?? false
    }

    /// The controller was reset. What is wanted stays wanted.
    mutating func reset() {
        activity = .idle
        isCleared = false
        backoff.succeeded()
        watchdog = ScanWatchdog()
        reassembly.removeAll()
    }

    /// The controller is gone.
    mutating func abandon(_ error: HostError) -> [Effect] {
        guard isWanted else { return [] }
        wanted = nil
        return [.report(.controller(.scanningFailed(error)))]
    }

    var phaseName: PhaseName {
        switch activity {
        case .idle: .idle
        case .starting: .starting
        case .running: .running
        case .stopping: .stopping
        }
    }
}
