import BluetoothBase
import BluetoothHCI

extension Host {
    /// Connects to a peer. `HostEvent.connected` or `.connectionFailed` will follow, exactly once.
    ///
    /// - Parameter timeout: how long to try; nil tries until `cancelConnecting`.
    public mutating func connect(
        to peer: DeviceAddress, timeout: Duration?, at now: Instant
    ) throws(HostError) -> ConnectionAttempt {
        guard bringUp.state == .up else { throw .notReady }
        guard initiator.attempts.count < Initiator.maximumAttempts else { throw .busy }
        guard link(to: peer) == nil, !initiator.attempts.contains(where: { $0.peer.isSameDevice(as: peer) })
        else { throw .alreadyConnected }
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
            links[slot].attempt = nil
            sendDisconnect(slot, reason: .remoteUserTerminatedConnection, at: now)
        } else {
            return
        }
        events.append(.connectionFailed(attempt, .cancelled))
        reconcileConnecting(at: now)
    }

    /// The link to a peer, where there is one.
    public func link(to peer: DeviceAddress) -> LinkIdentifier? {
        links.firstSlot { $0.peer.isSameDevice(as: peer) }.map { links[$0].identifier }
    }

    /// Moves the initiator one step towards the peers that are wanted.
    mutating func reconcileConnecting(at now: Instant) {
        guard bringUp.state == .up else { return }
        switch initiator.state {
        case .idle:
            guard !initiator.attempts.isEmpty else { return connectingEnded(at: now) }
            if initiator.needsScannerIdle, case .idle = scanner.activity {
            } else if initiator.needsScannerIdle {
                return
            }
            initiate(at: now)
        case .initiating(let peers):
            guard peers != nextPeers else { return }
            initiator.state = .cancelling(until: now.advanced(by: Initiator.cancelPatience))
            send(LECreateConnectionCancel(), for: .none, at: now)
        case .cancelling:
            return
        }
    }

    /// The peers to listen for next, in the order in which they were asked for.
    private var nextPeers: [DeviceAddress] {
        initiator.attempts.prefix(max(1, usableAcceptListSize)).map(\.peer)
    }

    private var usableAcceptListSize: Int {
        guard let controller, controller.commands.contains(.leAddDeviceToFilterAcceptList),
            controller.commands.contains(.leClearFilterAcceptList)
        else { return 0 }
        return controller.filterAcceptListSize
    }

    private mutating func initiate(at now: Instant) {
        let peers = nextPeers
        initiator.state = .initiating(peers)
        initiator.turnEnds = initiator.attempts.count > peers.count ? now.advanced(by: Initiator.turn) : nil
        if peers.count > 1 {
            send(LEClearFilterAcceptList(), for: .none, at: now)
            for peer in peers {
                send(LEAddDeviceToFilterAcceptList(address: peer), for: .none, at: now)
            }
        }
        send(
            LECreateConnection(
                scanInterval: LESlots(clamping: Initiator.scanInterval),
                scanWindow: LESlots(clamping: Initiator.scanInterval),
                filterPolicy: peers.count > 1 ? .acceptList : .peerAddress,
                peerAddress: peers.count > 1 ? DeviceAddress(0, kind: .public) : peers[0],
                ownAddressType: ownAddressType,
                connectionParameters: LEConnectionParameters(configuration.connectionParameters)),
            for: .createConnection, at: now)
    }

    /// Command Status of LE Create Connection.
    mutating func createConnectionAnswered(_ status: HCIStatus, at now: Instant) {
        guard status != .success, case .initiating(let peers) = initiator.state else { return }
        initiator.state = .idle
        if status == .commandDisallowed, scanner.wanted != nil, !initiator.needsScannerIdle {
            // This controller cannot initiate while it scans: let the scanner rest until this is over.
            initiator.needsScannerIdle = true
            scanner.isPaused = true
            reconcileScanning(at: now)
        } else {
            failAttempts(to: peers, .controller(status))
        }
        reconcileConnecting(at: now)
    }

    /// LE Connection Complete with an error, or after a cancellation.
    mutating func connectionNotMade(_ status: HCIStatus, at now: Instant) {
        switch initiator.state {
        case .idle: return
        case .cancelling: break
        case .initiating(let peers):
            if status == .connectionFailedToBeEstablished {
                // Where several were listened for, the report does not tell which one it was.
                if peers.count == 1, let attempt = initiator.take(peers[0]) { retry(attempt) }
            } else if status != .unknownConnectionIdentifier {
                failAttempts(to: peers, .controller(status))
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
            events.append(.connectionFailed(attempt.identifier, .connectionFailedToBeEstablished))
        } else {
            initiator.attempts.append(attempt)
        }
    }

    private mutating func failAttempts(to peers: [DeviceAddress], _ error: HostError) {
        for peer in peers {
            guard let attempt = initiator.take(peer) else { continue }
            events.append(.connectionFailed(attempt.identifier, error))
        }
    }

    /// Ends every attempt: the controller is gone for good.
    mutating func abandonAttempts(_ error: HostError) {
        for attempt in initiator.attempts {
            events.append(.connectionFailed(attempt.identifier, error))
        }
        initiator.attempts.removeAll()
        initiator.state = .idle
    }

    /// The scanner and the advertiser may have waited for the initiator.
    private mutating func connectingEnded(at now: Instant) {
        initiator.needsScannerIdle = false
        initiator.turnEnds = nil
        scanner.isPaused = false
        advertiser.isPaused = false
        reconcileScanning(at: now)
        reconcileAdvertising(at: now)
    }

    mutating func fireConnecting(at now: Instant) {
        while let index = initiator.attempts.firstIndex(where: { $0.deadline.map { $0 <= now } ?? false }) {
            let attempt = initiator.attempts.remove(at: index)
            events.append(.connectionFailed(attempt.identifier, .timedOut))
        }
        if let turnEnds = initiator.turnEnds, turnEnds <= now, case .initiating(let peers) = initiator.state {
            // Those who had their turn go to the back.
            initiator.turnEnds = nil
            let served = min(peers.count, initiator.attempts.count)
            initiator.attempts.append(contentsOf: initiator.attempts.prefix(served))
            initiator.attempts.removeFirst(served)
        }
        if case .cancelling(let until) = initiator.state, until <= now { initiator.state = .idle }
        reconcileConnecting(at: now)
    }
}
