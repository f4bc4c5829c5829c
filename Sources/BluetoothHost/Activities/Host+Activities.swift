import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Scanning, advertising and connecting. The host passes calls and answers to the activities, and their effects to the
/// controller.
extension Host {
    // MARK: Calls

    /// Scans until `stopScanning` is called. A second call replaces the parameters.
    public mutating func startScanning(_ parameters: ScanParameters, at now: Instant) throws(HostError) {
        guard parameters.isValid else { throw .invalidParameters }
        guard !lacksPrivacy else { throw .unsupported(.resolvableAddresses) }
        if lifecycle.isUp, let obstacle = parameters.obstacle(radio) { throw obstacle }
        scanner.start(parameters)
        advanceScanning(at: now)
    }

    /// Stops scanning. Reports that the controller has already sent are dropped.
    public mutating func stopScanning(at now: Instant) {
        scanner.stop()
        if !scanner.isSearching { dropUnresolvedReports() }
        advanceScanning(at: now)
    }

    /// Advertises until `stopAdvertising` is called. A second call for the same set replaces its parameters. After a
    /// peer has connected, advertising resumes as soon as the controller allows it.
    ///
    /// - Parameter handle: the advertising set, 0x00 to 0xEF. The number of simultaneous sets is limited by the
    ///   controller, and to 16 in any case. Without the extended commands only one set is available.
    /// - Throws: `.unsupported` if the controller lacks the extended commands that the parameters need, `.busy` if
    ///   there are too many sets. While no controller is up, its limits are unknown: the host then reports
    ///   `HostEvent.Controller.advertisingFailed` later.
    public mutating func startAdvertising(
        _ parameters: AdvertisingParameters, as handle: AdvertisingHandle = AdvertisingHandle(0), at now: Instant
    ) throws(HostError) {
        guard parameters.isValid, handle.rawValue <= 0xEF else { throw .invalidParameters }
        guard !lacksPrivacy else { throw .unsupported(.resolvableAddresses) }
        guard !(parameters.isConnectable && isForBroadcastOnly) else { throw .unsupported(.connectableAddress) }
        if lifecycle.isUp {
            if let obstacle = advertiser.obstacle(to: parameters, as: handle, radio) { throw obstacle }
        } else if !advertiser.hasRoom(for: handle) {
            throw .busy
        }
        advertiser.start(parameters, as: handle, at: now)
        arbiter.advertisingMayWork()
        advanceAdvertising(at: now)
    }

    /// Whether a set has been requested, and is on the air or will be as soon as the controller allows it.
    public func isAdvertisingWanted(_ handle: AdvertisingHandle = AdvertisingHandle(0)) -> Bool {
        advertiser.wants(handle)
    }

    /// The maximum number of advertising sets, regardless of what the controller offers.
    package static var maximumAdvertisingSets: Int { Advertiser.maximumSets }

    /// Whether a requested set has a subevent with this number.
    package func hasSubevent(_ number: Int, of handle: AdvertisingHandle) -> Bool { advertiser.has(number, of: handle) }

    /// Stops advertising a set. A peer may still connect before the controller has stopped.
    public mutating func stopAdvertising(_ handle: AdvertisingHandle = AdvertisingHandle(0), at now: Instant) {
        advertiser.stop(handle)
        arbiter.advertisingMayWork()
        advanceAdvertising(at: now)
        advanceConnecting(at: now)
    }

    /// Connects to a peer. The host reports either `HostEvent.Link.connected` or
    /// `HostEvent.Controller.connectionFailed`, exactly once.
    ///
    /// - Parameters:
    ///   - peer: the peer, identified by any of its `PeerID` values.
    ///   - timeout: the time after which the attempt fails; nil to try until `cancelConnecting` is called.
    ///   - route: how the peer is reached. LE Coded and subevents need a controller that supports them. An attempt in a
    ///     subevent fails with `.cancelled` if the set of the subevent ends.
    public mutating func connect(
        to peer: PeerID, timeout: Duration?, by route: ConnectionRoute = .advertising(.le1M), at now: Instant
    ) throws(HostError) -> ConnectionAttempt {
        guard lifecycle.isUp else { throw .notReady }
        guard !lacksPrivacy else { throw .unsupported(.resolvableAddresses) }
        guard !isForBroadcastOnly else { throw .unsupported(.connectableAddress) }
        try check(route)
        guard !initiator.isFull, links.hasRoom else { throw .busy }
        let peer = peers.peer(at: peer.firstAddress)
        guard !isTaken(peer) else { throw .alreadyConnected }
        let attempt = initiator.add(peer, deadline: timeout.map { now.advanced(by: $0) }, route: route)
        advanceConnecting(at: now)
        return attempt
    }

    private func check(_ route: ConnectionRoute) throws(HostError) {
        switch route {
        case .advertising(let phys):
            guard phys.isValid else { throw .invalidParameters }
            guard !phys.contains(.leCoded) || radio.phys.contains(.leCoded) else { throw .unsupported(.leCoded) }
        case .subevent(let number, let set):
            guard radio.periodic.contains(.connectingInSubevents) else { throw .unsupported(.subeventConnections) }
            guard advertiser.has(number, of: set) else { throw .invalidParameters }
        }
    }

    /// Cancels an attempt. It fails with `HostError.cancelled` unless it has already ended.
    public mutating func cancelConnecting(_ attempt: ConnectionAttempt, at now: Instant) {
        if !initiator.remove(attempt) {
            guard let slot = links.firstSlot(where: { $0.life.attempt?.identifier == attempt }) else { return }
            // The controller has reported the link, but it was never established. The link itself is therefore never
            // reported.
            dismiss(slot, at: now)
        }
        events.append(.controller(.connectionFailed(attempt, .cancelled)))
        advanceConnecting(at: now)
    }

    /// Whether a peer is connected, or is being connected to.
    private func isTaken(_ peer: PeerID) -> Bool {
        let peer = peers.lastingPeer(of: peer)
        return initiator.wants(peer, in: peers)
            || links.firstSlot { $0.lastingPeer == peer && ($0.life.isAnnounced || $0.life.attempt != nil) } != nil
    }

    // MARK: Advancing

    /// The conditions that may prevent an activity now.
    private var obstacles: RadioArbiter.Obstacles {
        var obstacles: RadioArbiter.Obstacles = []
        if !lifecycle.isUp { obstacles.insert(.reset) }
        if initiator.blocksOtherActivities { obstacles.insert(.attempt) }
        if !scanner.isIdle { obstacles.insert(.scan) }
        if !links.isEmpty { obstacles.insert(.link) }
        if !links.hasRoom { obstacles.insert(.fullLinkTable) }
        if privacy.isPending { obstacles.insert(.privacy) }
        return obstacles
    }

    /// Moves every activity one step towards its requested state.
    mutating func advanceActivities(at now: Instant) {
        advanceAdvertising(at: now)
        advanceScanning(at: now)
        advanceConnecting(at: now)
        advanceSynchronizing(at: now)
    }

    mutating func advanceScanning(at now: Instant) {
        scanner.follow(synchronizer.scanPHYs)
        let verdict = arbiter.verdict(for: .scanning, among: obstacles)
        perform(scanner.advance(verdict, ownAddressType: ownAddressType, radio, at: now), at: now)
        advancePrivacy(at: now)
    }

    private mutating func advanceAdvertising(at now: Instant) {
        for index in advertiser.sets.indices {
            let set = advertiser.sets[index]
            let verdict = arbiter.verdict(for: set.activity, among: obstacles)
            let addresses =
                set.isIdle ? set.parameters.map { advertisingAddresses(for: $0) } : nil
            let effects = advertiser.advance(
                index, verdict, addresses ?? Advertiser.Addresses(own: .public), radio, at: now)
            perform(effects, at: now)
        }
        advertiser.forgetOver()
        advancePrivacy(at: now)
    }

    mutating func advanceConnecting(at now: Instant) {
        let wasBlocking = initiator.blocksOtherActivities
        let advertiser = self.advertiser
        let ended = initiator.removeAll { route in
            if case .subevent(let number, let set) = route { !advertiser.has(number, of: set) } else { false }
        }
        perform(ended, at: now)
        let verdict = arbiter.verdict(for: .connecting, among: obstacles)
        let (candidates, needsSearch) = initiator.candidates(in: peers) { route in
            if case .subevent(_, let set) = route { advertiser.isPeriodicOnAir(set) } else { true }
        } isLinked: { peer in
            links.firstSlot { $0.lastingPeer == peer } != nil
        } address: {
            reachableAddress(of: $0)
        }
        let settings = Initiator.Settings(
            ownAddressType: ownAddressType, connectionParameters: configuration.connectionParameters,
            acceptListSize: lifecycle.information?.usableAcceptListSize ?? 0, radio: radio)
        perform(initiator.advance(verdict, candidates, settings, at: now), at: now)
        if scanner.search(needsSearch) { advanceScanning(at: now) }
        advancePrivacy(at: now)
        guard wasBlocking, !initiator.blocksOtherActivities else { return }
        arbiter.attemptsEnded()
        advanceScanning(at: now)
        advanceAdvertising(at: now)
    }

    // MARK: Answers

    mutating func answered(_ step: Scanner.Step, _ status: HCIStatus, at now: Instant) {
        switch scanner.answered(step, status, silenceLimit: configuration.scanSilenceLimit, at: now) {
        case .effects(let effects): perform(effects, at: now)
        case .refused(let parameters, let effects):
            // Some controllers do not scan while they initiate a connection.
            let mayWait = status == .commandDisallowed && arbiter.explainsRefusal(of: .scanning, among: obstacles)
            if !mayWait { perform(scanner.giveUp(parameters, .controller(status), at: now), at: now) }
            perform(effects, at: now)
        }
        advanceScanning(at: now)
        // The initiator may be waiting for the scanner to stop.
        advanceConnecting(at: now)
    }

    mutating func answered(
        _ step: HostAdvertisingSet.Step, of handle: AdvertisingHandle, _ status: HCIStatus, at now: Instant
    ) {
        guard let (index, outcome) = advertiser.answered(step, of: handle, status) else { return }
        switch outcome {
        case .effects(let effects): perform(effects, at: now)
        case .refused(let parameters, let effects):
            let set = advertiser.sets[index]
            let mayWait = set.mayWorkLater(status) && arbiter.explainsRefusal(of: set.activity, among: obstacles)
            if !mayWait { perform(advertiser.giveUp(index, parameters, .controller(status)), at: now) }
            perform(effects, at: now)
        }
        advanceAdvertising(at: now)
        // The initiator may be waiting for the set's subevents.
        advanceConnecting(at: now)
    }

    mutating func answered(_ step: Initiator.Step, _ status: HCIStatus, at now: Instant) {
        switch initiator.answered(step, status) {
        case .effects(let effects): perform(effects, at: now)
        case .refused(let targets, let status):
            // Some controllers do not initiate a connection while they scan.
            if status == .commandDisallowed, arbiter.explainsRefusal(of: .connecting, among: obstacles) {
                advanceScanning(at: now)
            } else {
                perform(initiator.refused(targets, status, in: peers, at: now), at: now)
            }
        }
        advanceConnecting(at: now)
    }

    // MARK: Events and time

    /// Handles a connection to this device as a peripheral, or a report that a peer's attempt failed.
    mutating func peerConnected(_ isCertain: Bool, at now: Instant) {
        if isCertain {
            perform(advertiser.peerConnected(bySync: synchronizer.acceptsConnections), at: now)
        } else {
            perform(advertiser.peerFailed(at: now), at: now)
        }
        advanceAdvertising(at: now)
    }

    /// Handles LE Connection Complete with status Advertising Timeout: no peer has connected within 1.28 s (Vol 4, Part
    /// E, 7.7.65.1).
    mutating func highDutyCycleEnded(at now: Instant) {
        perform(advertiser.highDutyCycleEnded(at: now), at: now)
        advanceAdvertising(at: now)
    }

    /// Handles LE Advertising Set Terminated (Vol 4, Part E, 7.7.65.18).
    mutating func advertisingSetTerminated(_ end: LEAdvertisingSetTerminated, at now: Instant) {
        perform(advertiser.terminated(end.advertisingHandle, end.status, at: now), at: now)
        advanceAdvertising(at: now)
    }

    /// Handles LE Connection Complete for the initiator, with an error or after a cancellation.
    ///
    /// - Parameter address: the peer address in the event. Not every controller fills it in.
    mutating func connectingFailed(_ status: HCIStatus, with address: DeviceAddress?, at now: Instant) {
        let peer = address.map { peers.peer(at: $0) }
        let effects = initiator.connectionFailed(
            status, with: peer, in: peers, retries: configuration.establishmentRetries, at: now)
        perform(effects, at: now)
        advanceConnecting(at: now)
    }

    mutating func fireActivities(at now: Instant) {
        perform(scanner.fire(at: now), at: now)
        if scanner.retriesSearch(at: now) { advanceScanning(at: now) }
        perform(initiator.fire(in: peers, at: now), at: now)
        privacy.fire(at: now)
        if privacy.isPending { advanceActivities(at: now) }
        let isAdvertisingDue = advertiser.nextDeadline.map { $0 <= now } ?? false
        perform(advertiser.fire(at: now), at: now)
        if isAdvertisingDue { advanceAdvertising(at: now) }
        advanceConnecting(at: now)
    }
}

extension ControllerInformation {
    /// The number of peers that the initiator may add to the filter accept list.
    fileprivate var usableAcceptListSize: Int {
        guard commands.contains(.leAddDeviceToFilterAcceptList), commands.contains(.leClearFilterAcceptList) else {
            return 0
        }
        return filterAcceptListSize
    }
}
