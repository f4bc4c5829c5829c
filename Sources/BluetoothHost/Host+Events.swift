import BluetoothBase
import BluetoothHCI

/// Events from the controller.
extension Host {
    /// Takes one event packet, without its H4 indicator. One that cannot be decoded is ignored: what matters about it is
    /// covered by a time-out somewhere.
    mutating func receiveEvent(_ bytes: Span<UInt8>, at now: Instant) {
        guard let event = try? HCIEvent(decoding: bytes) else { return }
        switch event {
        case .numberOfCompletedPackets(let completed): packetsCompleted(completed)
        case .leAdvertisingReports(let reports): receive(reports)
        case .commandComplete(let complete): commandCompleted(complete, at: now)
        case .commandStatus(let status): commandStatusReceived(status, at: now)
        case .leConnectionComplete(let complete):
            connectionCompleted(NewConnection(complete), complete.status, at: now)
        case .leEnhancedConnectionComplete(let complete):
            connectionCompleted(NewConnection(complete), complete.status, at: now)
        case .disconnectionComplete(let complete): disconnectionCompleted(complete, at: now)
        case .leConnectionUpdateComplete(let complete): connectionUpdated(complete)
        case .leReadRemoteFeaturesComplete(let complete): remoteFeaturesRead(complete, at: now)
        case .leRemoteConnectionParameterRequest(let request): parametersRequested(request, at: now)
        case .leLongTermKeyRequest(let request):
            // There are no keys yet, and an all-zero one is never the answer (robustness case S4).
            send(
                LELongTermKeyRequestNegativeReply(connectionHandle: request.connectionHandle), for: .none, at: now)
        case .hardwareError(let error): recover(from: .hardwareError(error.hardwareCode), at: now)
        default: return
        }
    }

    private mutating func packetsCompleted(_ completed: consuming NumberOfCompletedPackets) {
        while let entry = completed.next() {
            flow.complete(entry)
        }
        pump()
    }

    private mutating func connectionCompleted(
        _ connection: NewConnection?, _ status: HCIStatus, at now: Instant
    ) {
        guard status == .success else { return connectionNotMade(status, at: now) }
        guard let connection else { return }
        connectionMade(connection, at: now)
    }

    private mutating func disconnectionCompleted(_ complete: DisconnectionComplete, at now: Instant) {
        guard complete.status == .success, let slot = links.slot(of: complete.connectionHandle) else { return }
        removeLink(slot, reason: complete.reason, at: now)
        linkRemoved(at: now)
    }

    private mutating func remoteFeaturesRead(_ complete: LEReadRemoteFeaturesComplete, at now: Instant) {
        guard let slot = links.slot(of: complete.connectionHandle) else { return }
        // Even a refusal comes from the peer, but this one says that there is none; Disconnection Complete follows.
        guard complete.status != .connectionFailedToBeEstablished else { return }
        establish(slot, at: now)
    }

    /// Starts over with a controller that has lost its state, or that cannot be trusted to have kept it. Links are
    /// gone; what is wanted of the scanner, the advertiser and the initiator is begun anew once the controller is up.
    mutating func recover(from cause: HostResetCause, at now: Instant) {
        guard bringUp.state != .off, bringUp.state != .failed else { return }
        guard bringUp.attempts < BringUp.maximumAttempts else {
            return fail(cause.failure, at: now)
        }
        events.append(.resetting(cause))
        abandonCommands(.controllerReset)
        dropAllLinks(.hardwareFailure, at: now)
        scanner.activity = .idle
        advertiser.activity = .idle
        initiator.state = .idle
        outbox.removeAll()
        beginBringUp(at: now)
    }
}

/// LE Connection Complete, of either form, once its values are known to make sense.
struct NewConnection: Sendable {
    var handle: ConnectionHandle
    var role: LinkRole
    var peer: DeviceAddress
    var parameters: CurrentConnectionParameters

    init?(_ complete: LEConnectionComplete) {
        self.init(
            complete.connectionHandle, complete.role, complete.peerAddress, complete.interval, complete.latency,
            complete.supervisionTimeout)
    }

    init?(_ complete: LEEnhancedConnectionComplete) {
        self.init(
            complete.connectionHandle, complete.role, complete.peerAddress, complete.interval, complete.latency,
            complete.supervisionTimeout)
    }

    private init?(
        _ handle: ConnectionHandle, _ role: ConnectionRole, _ peer: DeviceAddress, _ interval: ConnectionInterval,
        _ latency: UInt16, _ supervisionTimeout: SupervisionTimeout
    ) {
        guard handle.isValid, let role = LinkRole(rawValue: role.rawValue) else { return nil }
        self.handle = handle
        self.role = role
        self.peer = peer
        parameters = CurrentConnectionParameters(
            interval: interval.duration, latency: latency, supervisionTimeout: supervisionTimeout.duration)
    }
}

extension HostResetCause {
    /// What to report when resetting does not help.
    fileprivate var failure: HostFailure {
        switch self {
        case .commandTimedOut(let opcode): .controllerNotResponding(opcode)
        case .hardwareError(let code): .hardwareError(code)
        }
    }
}
