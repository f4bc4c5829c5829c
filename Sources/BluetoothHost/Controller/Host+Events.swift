import BluetoothBase
import BluetoothHCI

/// Events from the controller.
extension Host {
    /// Handles one event packet, without its H4 packet indicator. An event with invalid parameters is ignored, because
    /// a timeout covers whatever depends on it. An event with a wrong length field shows that octets were lost.
    mutating func receiveEvent(_ bytes: Span<UInt8>, at now: Instant) {
        if let reports = LEAdvertisingReports(event: bytes) { return receive(reports, at: now) }
        if let completed = NumberOfCompletedPackets(event: bytes) { return packetsCompleted(completed, at: now) }
        // The length alone decides what happens next, regardless of the decoder's error.
        guard let event = try? HCIEvent(decoding: bytes) else {
            let isWhole = bytes.count >= 2 && bytes.count - 2 == Int(bytes[1])
            return handle(isWhole ? .eventInvalid : .packetMalformed, at: now)
        }
        switch event {
        case .leAdvertisingReports(let reports): receive(reports, at: now)
        case .leExtendedAdvertisingReports(let reports): receive(reports, at: now)
        case .commandComplete(let complete): commandCompleted(complete, at: now)
        case .commandStatus(let status): commandStatusReceived(status, at: now)
        case .hardwareError(let error): controllerFailed(.hardwareError(error.hardwareCode), at: now)
        default: receiveLinkEvent(event, at: now)
        }
    }

    /// Handles events about connections. Those of a controller that is being reset no longer matter.
    private mutating func receiveLinkEvent(_ event: borrowing HCIEvent, at now: Instant) {
        guard lifecycle.isUp else { return }
        switch event {
        case .leConnectionComplete(let complete):
            connectionCompleted(
                complete.status, complete.connectionHandle, complete.role, NewConnection(complete), at: now)
        case .leEnhancedConnectionComplete(let complete):
            connectionCompleted(
                complete.status, complete.connectionHandle, complete.role, NewConnection(complete), at: now)
        case .lePeriodicAdvertisingReport, .lePeriodicAdvertisingSyncEstablished,
            .lePeriodicAdvertisingSyncEstablishedV2, .lePeriodicAdvertisingSyncLost,
            .lePeriodicAdvertisingSyncTransferReceived, .lePeriodicAdvertisingSyncTransferReceivedV2,
            .lePeriodicAdvertisingSubeventDataRequest, .lePeriodicAdvertisingResponseReports:
            receivePeriodicEvent(event, at: now)
        case .leAdvertisingSetTerminated(let end): advertisingSetTerminated(end, at: now)
        case .disconnectionComplete(let complete): disconnectionCompleted(complete, at: now)
        case .leConnectionUpdateComplete(let complete): connectionUpdated(complete, at: now)
        case .lePHYUpdateComplete(let complete): phyUpdated(complete, at: now)
        case .leDataLengthChange(let change): dataLengthChanged(change)
        case .lePathLossThreshold(let report): pathLossReported(report, at: now)
        case .leTransmitPowerReporting(let report): transmitPowerReported(report, at: now)
        case .leReadRemoteFeaturesComplete(let complete): remoteFeaturesRead(complete, at: now)
        case .leRemoteConnectionParameterRequest(let request): parametersRequested(request, at: now)
        case .leLongTermKeyRequest(let request): longTermKeyRequested(request, at: now)
        case .encryptionChange(let change):
            encryptionChanged(
                change.status, isEncrypted: change.encryption == .on, of: change.connectionHandle, at: now)
        case .encryptionKeyRefreshComplete(let complete):
            encryptionChanged(complete.status, isEncrypted: true, of: complete.connectionHandle, at: now)
        default: return
        }
    }

    private mutating func receivePeriodicEvent(_ event: borrowing HCIEvent, at now: Instant) {
        switch event {
        case .lePeriodicAdvertisingReport(let report): receive(report)
        case .lePeriodicAdvertisingSyncEstablished(let new): syncEstablished(new.status, NewSync(new), at: now)
        case .lePeriodicAdvertisingSyncEstablishedV2(let new): syncEstablished(new.status, NewSync(new), at: now)
        case .lePeriodicAdvertisingSyncLost(let lost): syncLost(lost)
        case .lePeriodicAdvertisingSyncTransferReceived(let new):
            syncTransferred(new.status, new.connectionHandle, new.serviceData, NewSync(new), at: now)
        case .lePeriodicAdvertisingSyncTransferReceivedV2(let new):
            syncTransferred(new.status, new.connectionHandle, new.serviceData, NewSync(new), at: now)
        case .lePeriodicAdvertisingSubeventDataRequest(let request): subeventDataRequested(request)
        case .lePeriodicAdvertisingResponseReports(let reports): receive(reports)
        default: return
        }
    }

    private mutating func packetsCompleted(_ completed: consuming NumberOfCompletedPackets, at now: Instant) {
        while let entry = completed.next() {
            flow.complete(entry)
        }
        // Until one of the following does more than sending.
        consequence = .sending
        pump()
        if channelsMayWait { pumpChannels(at: now) }
        if pairingsMayWait { confirmPairings(at: now) }
    }

    private mutating func connectionCompleted(
        _ status: HCIStatus, _ handle: ConnectionHandle, _ role: ConnectionRole, _ connection: NewConnection?,
        at now: Instant
    ) {
        if let connection, status == .success { return connectionMade(connection, at: now) }
        // The event reports no connection, regardless of the role in it.
        if status == .advertisingTimeout, advertiser.isRunningAtHighDutyCycle { return highDutyCycleEnded(at: now) }
        if status == .success, handle.isValid, links.slot(of: handle) == nil {
            // A connection with an unknown role is unusable, but must not stay open.
            send(Disconnect(connectionHandle: handle), for: .none, at: now)
        }
        let reason = status == .success ? .connectionFailedToBeEstablished : status
        if role == .peripheral {
            peerConnected(false, at: now)
        } else {
            connectingFailed(reason, with: connection?.address, at: now)
        }
    }

    private mutating func disconnectionCompleted(_ complete: DisconnectionComplete, at now: Instant) {
        guard complete.status == .success else { return }
        let freed = flow.removeLink(complete.connectionHandle)
        dropCommands(for: complete.connectionHandle, at: now)
        guard let slot = links.slot(of: complete.connectionHandle) else {
            // The host had stopped waiting for the end of this link before the controller reported it.
            if freed > 0 { pump() }
            return
        }
        removeLink(slot, reason: complete.reason, at: now)
        linkRemoved(at: now)
    }

    private mutating func remoteFeaturesRead(_ complete: LEReadRemoteFeaturesComplete, at now: Instant) {
        guard let slot = links.slot(of: complete.connectionHandle) else { return }
        // The event carries the peer's features, or the peer's refusal to send them. Either way a packet was received.
        // Any other status originates in the controller itself.
        guard complete.status == .success || complete.status == .unsupportedRemoteFeature else { return }
        if complete.status == .success {
            links.at[slot.index].remoteFeatures = complete.features
            advance(slot, at: now) { $0.parameterNegotiation.handle(.featuresRead(complete.features), $1) }
        }
        establish(slot, at: now)
        preferFastPHY(slot, at: now)
    }
}

/// The values of LE Connection Complete, of either version, after they have been validated.
struct NewConnection: Sendable {
    var handle: ConnectionHandle
    var role: LinkRole
    /// The peer's address: its identity address if the controller has resolved the one on the air.
    var address: DeviceAddress
    /// The peer's address on the air, which pairing uses.
    var airAddress: DeviceAddress
    /// The private address that the controller has generated for this host; nil if it has not.
    var localAddress: DeviceAddress?
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
        if complete.peerResolvablePrivateAddress.value != 0 { airAddress = complete.peerResolvablePrivateAddress }
        if complete.localResolvablePrivateAddress.value != 0 { localAddress = complete.localResolvablePrivateAddress }
    }

    private init?(
        _ handle: ConnectionHandle, _ role: ConnectionRole, _ address: DeviceAddress, _ interval: ConnectionInterval,
        _ latency: UInt16, _ supervisionTimeout: SupervisionTimeout
    ) {
        guard handle.isValid, let role = LinkRole(rawValue: role.rawValue) else { return nil }
        self.handle = handle
        self.role = role
        self.address = address
        airAddress = address
        parameters = CurrentConnectionParameters(
            interval: interval.duration, latency: latency, supervisionTimeout: supervisionTimeout.duration)
    }
}
