import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Scanning, advertising and connecting: calls and answers go to the activities, their effects to the controller.
extension Host {
    // MARK: Calls

    /// Scans until `stopScanning`. A second call replaces the parameters.
    public mutating func startScanning(_ parameters: ScanParameters, at now: Instant) throws(HostError) {
        guard parameters.isValid else { throw .invalidParameters }
        guard !lacksPrivacy else { throw .unsupported }
        scanner.start(parameters)
        advanceScanning(at: now)
    }

    /// Stops scanning. Reports that the controller has sent already are dropped.
    public mutating func stopScanning(at now: Instant) {
        scanner.stop()
        advanceScanning(at: now)
    }

    /// Advertises until `stopAdvertising`. A second call replaces what is advertised. Advertising resumes after a peer
    /// has connected, as soon as the controller can.
    public mutating func startAdvertising(_ parameters: AdvertisingParameters, at now: Instant) throws(HostError) {
        guard parameters.isValid else { throw .invalidParameters }
        guard !lacksPrivacy, !(parameters.isConnectable && isForBroadcastOnly) else { throw .unsupported }
        advertiser.start(parameters, at: now)
        arbiter.advertisingMayWork()
        advanceAdvertising(at: now)
    }

    /// Whether anything is to be advertised, now or as soon as the controller can.
    public var isAdvertisingWanted: Bool { advertiser.isWanted }

    /// Stops advertising. A peer may still have connected before the controller stopped.
    public mutating func stopAdvertising(at now: Instant) {
        advertiser.stop()
        arbiter.advertisingMayWork()
        advanceAdvertising(at: now)
    }

    /// Connects to a peer. `HostEvent.Link.connected` or `HostEvent.Controller.connectionFailed` will follow, exactly
    /// once.
    ///
    /// - Parameters:
    ///   - peer: the peer, under any of its names.
    ///   - timeout: how long to try; nil tries until `cancelConnecting`.
    public mutating func connect(
        to peer: PeerID, timeout: Duration?, at now: Instant
    ) throws(HostError) -> ConnectionAttempt {
        guard lifecycle.isUp else { throw .notReady }
        guard !lacksPrivacy, !isForBroadcastOnly else { throw .unsupported }
        guard !initiator.isFull, links.hasRoom else { throw .busy }
        let peer = peers.peer(at: peer.firstAddress)
        guard !isTaken(peer) else { throw .alreadyConnected }
        let attempt = initiator.add(peer, deadline: timeout.map { now.advanced(by: $0) })
        advanceConnecting(at: now)
        return attempt
    }

    /// Calls an attempt off; it ends with `HostError.cancelled` unless it has ended already.
    public mutating func cancelConnecting(_ attempt: ConnectionAttempt, at now: Instant) {
        if !initiator.remove(attempt) {
            guard let slot = links.firstSlot(where: { $0.life.attempt?.identifier == attempt }) else { return }
            // The controller has reported the link, but it has not been established: it is never reported.
            dismiss(slot, at: now)
        }
        events.append(.controller(.connectionFailed(attempt, .cancelled)))
        advanceConnecting(at: now)
    }

    /// Whether a peer is connected, or will be as soon as its link is established.
    private func isTaken(_ peer: PeerID) -> Bool {
        let peer = peers.lastingName(of: peer)
        return initiator.wants(peer, in: peers)
            || links.firstSlot { $0.lastingPeer == peer && ($0.life.isAnnounced || $0.life.attempt != nil) } != nil
    }

    // MARK: One step further

    /// What may be in the way of an activity now.
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

    /// Moves everything that goes on until further notice one step towards what is wanted.
    mutating func advanceActivities(at now: Instant) {
        advanceAdvertising(at: now)
        advanceScanning(at: now)
        advanceConnecting(at: now)
    }

    private mutating func advanceScanning(at now: Instant) {
        let verdict = arbiter.verdict(for: .scanning, among: obstacles)
        perform(scanner.advance(verdict, ownAddressType: ownAddressType, at: now), at: now)
        advancePrivacy(at: now)
    }

    private mutating func advanceAdvertising(at now: Instant) {
        let verdict = arbiter.verdict(for: advertiser.activity, among: obstacles)
        let addresses = advertisingAddresses(
            for: advertiser.isIdle ? advertiser.target : nil, canBePrivate: advertiser.targetResolvesAddresses)
        let version = lifecycle.information?.version?.hciVersion
        perform(advertiser.advance(verdict, addresses, version, at: now), at: now)
        advancePrivacy(at: now)
    }

    mutating func advanceConnecting(at now: Instant) {
        let wasBlocking = initiator.blocksOtherActivities
        let verdict = arbiter.verdict(for: .connecting, among: obstacles)
        let (candidates, needsSearch) = initiator.candidates(in: peers) { peer in
            links.firstSlot { $0.lastingPeer == peer } != nil
        } address: {
            reachableAddress(of: $0)
        }
        let settings = Initiator.Settings(
            ownAddressType: ownAddressType, connectionParameters: configuration.connectionParameters,
            acceptListSize: lifecycle.information?.usableAcceptListSize ?? 0)
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
        case .refused(let parameters):
            // Some controllers do not scan while they initiate a connection.
            let mayWait = status == .commandDisallowed && arbiter.explainsRefusal(of: .scanning, among: obstacles)
            if !mayWait { perform(scanner.giveUp(parameters, .controller(status), at: now), at: now) }
        }
        advanceScanning(at: now)
        // The initiator may wait for the scanner to stop.
        advanceConnecting(at: now)
    }

    mutating func answered(_ step: Advertiser.Step, _ status: HCIStatus, at now: Instant) {
        switch advertiser.answered(step, status) {
        case .effects(let effects): perform(effects, at: now)
        case .refused(let parameters):
            let activity = advertiser.activity
            let mayWait =
                advertiser.mayWorkLater(status) && arbiter.explainsRefusal(of: activity, among: obstacles)
            if !mayWait { perform(advertiser.giveUp(parameters, .controller(status)), at: now) }
        }
        advanceAdvertising(at: now)
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

    /// A central was reported, or the controller says that a peer tried and failed.
    mutating func peerConnected(_ isCertain: Bool, at now: Instant) {
        if isCertain { advertiser.peerConnected() } else { perform(advertiser.peerFailed(at: now), at: now) }
        advanceAdvertising(at: now)
    }

    /// LE Connection Complete of the initiator with an error, or after a cancellation.
    ///
    /// - Parameter address: the one the report names; not every controller fills that in.
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

    /// One `LE Advertising Report` event (Vol 4, Part E, 7.7.65.2), which may hold several reports.
    mutating func receive(_ reports: consuming LEAdvertisingReports, at now: Instant) {
        // Reports that were on their way when scanning was stopped are of no use to anybody.
        guard scanner.isListening else { return }
        scanner.reportReceived(at: now)
        while let report = reports.next() {
            guard let type = AdvertisingEventType(legacyEventType: report.eventType.rawValue) else { continue }
            received(type, report.address, report.rssi, report.data, at: now)
        }
    }

    /// One `LE Extended Advertising Report` event (Vol 4, Part E, 7.7.65.13). The host has not asked for them, but
    /// Bumble's controllers report even what they scan by the legacy commands in this way.
    mutating func receive(_ reports: consuming LEExtendedAdvertisingReports, at now: Instant) {
        guard scanner.isListening else { return }
        scanner.reportReceived(at: now)
        while let report = reports.next() {
            // Fragments are not put together; legacy advertising has none.
            guard let address = report.address, report.eventType.dataStatus == .complete else { continue }
            let type = AdvertisingEventType(rawValue: UInt8(truncatingIfNeeded: report.eventType.rawValue & 0x1F))
            received(type, address, report.rssi, report.data, at: now)
        }
    }

    private mutating func received(
        _ type: AdvertisingEventType, _ address: DeviceAddress, _ rssi: Int8, _ data: Span<UInt8>, at now: Instant
    ) {
        let peer = peers.peer(at: address)
        if scanner.isSearching {
            if type.contains(.connectable) { searched(peer, at: address, at: now) }
            guard scanner.isWanted else { return }
        }
        let data = events.store(data)
        events.append(
            .advertisement(Advertisement(type: type, address: address, peer: peer, rssi: rssi, data: data)))
    }
}

extension ControllerInformation {
    /// How many peers the initiator may put into the filter accept list.
    fileprivate var usableAcceptListSize: Int {
        guard commands.contains(.leAddDeviceToFilterAcceptList), commands.contains(.leClearFilterAcceptList) else {
            return 0
        }
        return filterAcceptListSize
    }
}
