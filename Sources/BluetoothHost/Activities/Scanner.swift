import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Scanning: the requested scan, and the controller's state.
struct Scanner: Hashable, Sendable {
    /// The commands that start scanning, or end it.
    enum Step: Equatable, Sendable {
        case setParameters, enable, disable
    }

    private var wanted: ScanParameters?
    /// Whether the host itself scans for peers to connect to.
    private(set) var isSearching = false
    /// The PHYs on which the controller must listen for advertisers that the host synchronizes to; nil if it need not.
    private var followed: ScanPHYs?
    private var activity: Activity<ScanParameters> = .idle
    /// Whether the scan was started with the extended commands.
    private var isExtended = false
    /// Whether a scan left by an earlier program can no longer be running. Not every controller ends scanning at Reset.
    private var isCleared = false
    private var watchdog = ScanWatchdog()
    /// Reassembles fragmented extended advertising.
    private(set) var reassembly = AdvertisingReassembly()
    /// Delays the next search or synchronization scan after the controller has refused one.
    private var backoff = Backoff()

    /// Whether the application has requested a scan.
    var isWanted: Bool { wanted != nil }

    /// Whether the host uses the reports. Reports of a scan that was stopped, or that ended with a reset, are ignored
    /// even if another scan follows: they may continue data whose beginning has been dropped.
    @inline(__always)
    var isListening: Bool {
        switch activity {
        case .idle, .stopping: false
        case .starting, .running: wanted != nil || isSearching
        }
    }

    /// The parameters that satisfy the application and the host. A search must not miss a device that was already
    /// reported before it began, so it needs duplicates.
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

    /// Listens half of the time, so that links and advertising continue.
    private static let search = ScanParameters(
        isActive: false, interval: .milliseconds(60), window: .milliseconds(30), reportsDuplicates: false)

    /// Whether the controller is not scanning and is not about to start or stop.
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

    /// Starts or stops searching for peers to connect to. Returns false if nothing changes.
    mutating func search(_ isSearching: Bool) -> Bool {
        guard isSearching != self.isSearching else { return false }
        self.isSearching = isSearching
        return true
    }

    /// Sets the PHYs on which to listen for advertisers that the host synchronizes to; nil for none.
    mutating func follow(_ phys: ScanPHYs?) { followed = phys }

    /// Moves one step towards the requested state.
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
        /// The controller refused these parameters. The effects stop a scan that it may have started.
        case refused(ScanParameters, [Effect] = [])
    }

    /// Handles the answer to a step.
    ///
    /// - Parameter silenceLimit: the duration of a silence after which the scan is restarted; nil for never.
    mutating func answered(_ step: Step, _ status: HCIStatus, silenceLimit: Duration?, at now: Instant) -> Outcome {
        switch (activity, step) {
        // This status also results from an answer that was truncated before its status, so the controller may be
        // scanning.
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
            // A controller that reports each advertiser only once may be silent for a long time.
            if parameters.reportsDuplicates, let silenceLimit { watchdog.start(silenceLimit, at: now) }
        case (.stopping, .disable):
            // Whatever the answer is, a controller that was asked to stop no longer scans for this host.
            activity = .idle
            isCleared = true
        default: break
        }
        return .effects([])
    }

    /// Fails a scan that the controller refused, unless the request has changed since.
    mutating func giveUp(_ refused: ScanParameters, _ error: HostError, at now: Instant) -> [Effect] {
        guard needed == refused else { return [] }
        if isNeeded { backoff.failed(at: now) }
        guard isWanted else { return [] }
        wanted = nil
        return [.report(.controller(.scanningFailed(error)))]
    }

    /// Records a report of the controller.
    @inline(__always)
    mutating func reportReceived(at now: Instant) { watchdog.reportReceived(at: now) }

    /// Handles a fragment of extended advertising.
    ///
    /// - Returns: the data that is now complete, and data whose rest is missing, marked as truncated.
    mutating func receive(
        _ fragment: Span<UInt8>, _ status: AdvertisingReassembly.Status, _ header: AdvertisingReassembly.Header,
        at now: Instant
    ) -> [AdvertisingReassembly.Whole] {
        reassembly.receive(fragment, status, header, at: now)
    }

    /// Stops a scan that has gone silent, so that it starts again.
    mutating func fire(at now: Instant) -> [Effect] {
        guard watchdog.fire(at: now), case .running = activity else { return [] }
        return disable()
    }

    /// Whether it is time to retry a search that the controller refused.
    func retriesSearch(at now: Instant) -> Bool {
        isNeeded && isIdle && backoff.deadline.map { $0 <= now } ?? false
    }

    /// Handles a reset of the controller. A requested scan stays requested.
    mutating func reset() {
        activity = .idle
        isCleared = false
        backoff.succeeded()
        watchdog = ScanWatchdog()
        reassembly.removeAll()
    }

    /// Handles the loss of the controller.
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
