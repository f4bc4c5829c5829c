import BluetoothBase
import BluetoothHCI

extension Host {
    /// Connects to a peer. `HostEvent.Link.connected` or `HostEvent.Controller.connectionFailed` will follow, exactly once.
    ///
    /// - Parameter timeout: how long to try; nil tries until `cancelConnecting`.
    public mutating func connect(
        to peer: PeerID, timeout: Duration?, at now: Instant
    ) throws(HostError) -> ConnectionAttempt {
        guard bringUp.state == .up else { throw .notReady }
        guard initiator.attempts.count < Initiator.maximumAttempts, links.hasRoom else { throw .busy }
        guard !isTaken(peer) else { throw .alreadyConnected }
        let identifier = ConnectionAttempt(number: initiator.nextNumber)
        initiator.nextNumber &+= 1
        initiator.attempts.append(
            .init(identifier: identifier, peer: peer, deadline: timeout.map { now.advanced(by: $0) }))
        reconcileConnecting(at: now)
        return identifier
    }

    /// Calls an attempt off; it ends with `HostError.cancelled` unless it has ended already.
    public mutating func cancelConnecting(_ attempt: ConnectionAttempt, at now: Instant) {
        if let index = initiator.attempts.firstIndex(where: { $0.identifier == attempt }) {
            initiator.attempts.remove(at: index)
        } else if let slot = links.firstSlot(where: { $0.attempt?.identifier == attempt && !$0.isEstablished }) {
            // Reported by the controller, but not heard yet: nobody will see it.
            links.at[slot].attempt = nil
            sendDisconnect(slot, reason: .remoteUserTerminatedConnection, at: now)
        } else {
            return
        }
        events.append(.controller(.connectionFailed(attempt, .cancelled)))
        reconcileConnecting(at: now)
    }

    /// Whether a peer is connected, or will be as soon as it is heard.
    private func isTaken(_ peer: PeerID) -> Bool {
        let peer = peers.lastingName(of: peer)
        return initiator.attempts.contains { peers.lastingName(of: $0.peer) == peer }
            || links.firstSlot { $0.lastingPeer == peer && ($0.wasAnnounced || $0.attempt != nil) } != nil
    }

    /// Moves the initiator one step towards the peers that are wanted.
    mutating func reconcileConnecting(at now: Instant) {
        guard bringUp.state == .up else { return }
        let candidates = candidates
        let targets = Array(candidates.prefix(max(1, usableAcceptListSize)))
        switch initiator.state {
        case .idle:
            guard !targets.isEmpty else { return connectingEnded(at: now) }
            guard !initiator.needsScannerIdle || scanner.isIdle else { return }
            initiate(targets, at: now)
        case .initiating(let current):
            guard current == targets else { return cancelInitiating(at: now) }
        case .cancelling:
            return
        }
        if candidates.count == targets.count {
            initiator.turnEnds = nil
        } else if initiator.turnEnds == nil {
            initiator.turnEnds = now.advanced(by: Initiator.turn)
        }
    }

    /// The peers that could be listened for, in the order in which they were asked for. Not those to which there still
    /// is a link, although nobody may know of it.
    private var candidates: [Initiator.Target] {
        guard !initiator.attempts.isEmpty, links.hasRoom else { return [] }
        var targets: [Initiator.Target] = []
        for attempt in initiator.attempts {
            let peer = peers.lastingName(of: attempt.peer)
            guard links.firstSlot(where: { $0.lastingPeer == peer }) == nil else { continue }
            targets.append(.init(peer: peer, address: peers.address(of: peer)))
        }
        return targets
    }

    private var usableAcceptListSize: Int {
        guard !initiator.isAcceptListBroken, let controller,
            controller.commands.contains(.leAddDeviceToFilterAcceptList),
            controller.commands.contains(.leClearFilterAcceptList)
        else { return 0 }
        return min(controller.filterAcceptListSize, Initiator.maximumListedPeers)
    }

    private mutating func initiate(_ targets: [Initiator.Target], at now: Instant) {
        initiator.state = .initiating(targets)
        initiator.turnEnds = nil
        initiator.isInTheWay = true
        if targets.count > 1 {
            send(LEClearFilterAcceptList(), for: .none, at: now)
            for target in targets {
                send(LEAddDeviceToFilterAcceptList(address: target.address), for: .acceptList, at: now)
            }
        }
        send(
            LECreateConnection(
                scanInterval: LESlots(clamping: Initiator.scanInterval),
                scanWindow: LESlots(clamping: Initiator.scanInterval),
                filterPolicy: targets.count > 1 ? .acceptList : .peerAddress,
                peerAddress: targets.count > 1 ? DeviceAddress(0, kind: .public) : targets[0].address,
                ownAddressType: ownAddressType,
                connectionParameters: LEConnectionParameters(configuration.connectionParameters)),
            for: .createConnection, at: now)
    }

    private mutating func cancelInitiating(at now: Instant) {
        initiator.state = .cancelling(until: now.advanced(by: Initiator.cancelPatience))
        send(LECreateConnectionCancel(), for: .createConnectionCancel, at: now)
    }

    /// The controller would not take a peer into its filter accept list: let them take turns.
    mutating func acceptListRefused(at now: Instant) {
        initiator.isAcceptListBroken = true
        reconcileConnecting(at: now)
    }

    /// Command Status of LE Create Connection.
    mutating func createConnectionAnswered(_ status: HCIStatus, at now: Instant) {
        guard case .initiating(let targets) = initiator.state else { return }
        guard status != .success else {
            initiator.refusals = 0
            return
        }
        initiator.state = .idle
        if status == .commandDisallowed, scanner.wanted != nil || !scanner.isIdle, !initiator.needsScannerIdle {
            // This controller cannot initiate while it scans: let the scanner rest until this is over.
            initiator.needsScannerIdle = true
            scanner.isPaused = true
            reconcileScanning(at: now)
        } else if status == .commandDisallowed, initiator.refusals < Initiator.maximumRefusals {
            // It may still be at an earlier attempt, of which this host believes that it has ended.
            initiator.refusals += 1
            return cancelInitiating(at: now)
        } else {
            initiator.refusals = 0
            failAttempts(to: targets, .controller(status))
        }
        reconcileConnecting(at: now)
    }

    /// Command Complete of LE Create Connection Cancel.
    mutating func cancelAnswered(_ status: HCIStatus, at now: Instant) {
        // A refusal says that there is nothing to cancel, so that nothing needs to be waited for.
        guard status != .success, case .cancelling = initiator.state else { return }
        initiator.state = .idle
        reconcileConnecting(at: now)
    }

    /// LE Connection Complete with an error, or after a cancellation.
    ///
    /// - Parameter address: whom the report names; not every controller fills that in.
    mutating func connectionNotMade(_ status: HCIStatus, with address: DeviceAddress?, at now: Instant) {
        switch initiator.state {
        case .idle: return
        case .cancelling: break
        case .initiating(let targets):
            if status == .connectionFailedToBeEstablished {
                // Where several were listened for and none of them is named, it was nobody's failure.
                let peer = address.map { peers.peer(at: $0) }
                let failed = targets.count == 1 ? targets[0] : targets.first { $0.peer == peer }
                if let failed, let attempt = initiator.take(failed.peer, in: peers) { retry(attempt) }
            } else if status != .unknownConnectionIdentifier {
                failAttempts(to: targets, .controller(status))
            }
        }
        initiator.state = .idle
        reconcileConnecting(at: now)
    }

    /// Puts an attempt whose connection failed to be established back in the queue, or gives it up.
    mutating func retry(_ attempt: Initiator.Attempt) {
        var attempt = attempt
        attempt.failures += 1
        if attempt.failures > configuration.establishmentRetries {
            events.append(.controller(.connectionFailed(attempt.identifier, .connectionFailedToBeEstablished)))
        } else {
            initiator.attempts.append(attempt)
        }
    }

    private mutating func failAttempts(to targets: [Initiator.Target], _ error: HostError) {
        for target in targets {
            guard let attempt = initiator.take(target.peer, in: peers) else { continue }
            events.append(.controller(.connectionFailed(attempt.identifier, error)))
        }
    }

    /// Ends every attempt: the controller is gone for good.
    mutating func abandonAttempts(_ error: HostError) {
        for attempt in initiator.attempts {
            events.append(.controller(.connectionFailed(attempt.identifier, error)))
        }
        initiator.attempts.removeAll()
    }

    /// The scanner and the advertiser may have waited for the initiator.
    private mutating func connectingEnded(at now: Instant) {
        guard initiator.isInTheWay else { return }
        initiator.isInTheWay = false
        initiator.needsScannerIdle = false
        scanner.isPaused = false
        advertiser.isPaused = false
        reconcileScanning(at: now)
        reconcileAdvertising(at: now)
    }

    mutating func fireConnecting(at now: Instant) {
        while let index = initiator.attempts.firstIndex(where: { $0.deadline.map { $0 <= now } ?? false }) {
            let attempt = initiator.attempts.remove(at: index)
            events.append(.controller(.connectionFailed(attempt.identifier, .timedOut)))
        }
        switch initiator.state {
        case .initiating(let targets):
            guard let turnEnds = initiator.turnEnds, turnEnds <= now else { break }
            initiator.turnEnds = nil
            initiator.rotate(targets, in: peers)
        case .cancelling(let until) where until <= now:
            initiator.state = .idle
        case .cancelling, .idle: break
        }
        reconcileConnecting(at: now)
    }
}
