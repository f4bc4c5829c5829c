import BluetoothBase
import BluetoothHCI

extension Air {
    /// Starts a procedure of one request and one answer. Its outcome is known one interval after the request was sent.
    mutating func start(
        _ step: Procedure.Step, _ handle: ConnectionHandle, on index: Int, at now: Instant
    ) -> HCIStatus {
        guard let (link, role) = find(handle, on: index) else { return .unknownConnectionIdentifier }
        return start(step, on: link, from: role, at: links[link].event(after: now, for: role, skipping: 1))
    }

    /// Starts a procedure unless the same end already has one of the same kind in progress.
    mutating func start(_ step: Procedure.Step, on link: Int, from role: LinkRole, at due: Instant) -> HCIStatus {
        guard !links[link].isInProgress(role, { $0.isSameKind(as: step) }) else { return .commandDisallowed }
        links[link].schedule(step, from: role, at: due)
        reschedule(link)
        return .success
    }

    mutating func disconnect(_ command: Disconnect, on index: Int, at now: Instant) -> HCIStatus {
        guard let (link, role) = find(command.connectionHandle, on: index) else {
            return .unknownConnectionIdentifier
        }
        guard command.reason.isReasonToDisconnect else { return .invalidCommandParameters }
        return start(
            .terminate(command.reason), on: link, from: role, at: links[link].event(after: now, for: role))
    }

    /// Performs the step that is due.
    mutating func run(_ procedure: Procedure, on link: Int, at time: Instant) {
        let role = procedure.initiator
        switch procedure.step {
        case .featureExchange: finishFeatureExchange(on: link, role)
        case .versionExchange: finishVersionExchange(on: link, role)
        case .terminate(let reason):
            let local = HCIStatus.connectionTerminatedByLocalHost
            close(
                link, central: role == .central ? local : reason, peripheral: role == .peripheral ? local : reason,
                at: time)
        case .connectionUpdate(let parameters): finishConnectionUpdate(parameters, on: link, role, at: time)
        case .parameterRequest(let range): deliverParameterRequest(range, on: link, at: time)
        case .parameterReject(let status): finishParameterReject(status, on: link)
        case .dataLengthUpdate: finishDataLengthUpdate(on: link)
        case .phyUpdate(let central, let peripheral):
            finishPHYUpdate(central: central, peripheral: peripheral, on: link, role)
        case .powerControl(let phy): finishPowerControl(phy, on: link, role)
        case .pathLossZone: finishPathLossZone(on: link, role)
        case .encryptionRequest(let request): deliverEncryptionRequest(request, on: link, at: time)
        case .encryptionStart: finishEncryption(on: link, at: time)
        case .encryptionReject: finishEncryptionReject(on: link, at: time)
        case .periodicSync(let announcement): deliver(announcement, on: link, from: role, at: time)
        case .responseTimeout: close(link, reason: .llResponseTimeout, at: time)
        }
    }

    // MARK: - Exchanges

    private mutating func finishFeatureExchange(on link: Int, _ role: LinkRole) {
        let own = links[link][role], peer = links[link][role.other]
        let theirs = controllers[peer.controller].configuration.exchangedFeatures
        let isPossible = role == .central || theirs.contains(.peripheralInitiatedFeaturesExchange)
        controllers[own.controller].reportRemoteFeatures(
            own.handle, isPossible ? .success : .unsupportedRemoteFeature, isPossible ? theirs : [])
    }

    private mutating func finishVersionExchange(on link: Int, _ role: LinkRole) {
        let own = links[link][role], peer = links[link][role.other]
        let theirs = controllers[peer.controller].configuration
        controllers[own.controller].reportRemoteVersion(own.handle, of: theirs)
    }
}

extension HCIStatus {
    /// Whether a host may use it as the reason to end a link (Core 5.4, Vol 4, Part E, 7.1.6).
    fileprivate var isReasonToDisconnect: Bool {
        switch self {
        case .authenticationFailure, .remoteUserTerminatedConnection, .remoteDeviceLowResources, .remoteDevicePowerOff,
            .unsupportedRemoteFeature, .pairingWithUnitKeyNotSupported, .unacceptableConnectionParameters:
            true
        default: false
        }
    }
}
