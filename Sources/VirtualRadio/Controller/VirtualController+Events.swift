import BluetoothBase
import BluetoothHCI

/// The events a controller sends without a command (Core 5.4, Vol 4, Part E, 7.7), unless the host masked them.
extension VirtualController {
    /// Sends an event. The bit of an event in the mask is its code minus one (7.3.1). Command responses and Number Of
    /// Completed Packets cannot be masked.
    ///
    /// A host that stops reading misses all events that its peers could cause without limit, except for disconnections.
    mutating func send<Event: HCIEventBody & ~Escapable>(_ event: borrowing Event) {
        guard reachesHost else { return }
        switch Event.code {
        case .commandComplete, .commandStatus, .numberOfCompletedPackets: break
        default:
            guard settings.eventMask.rawValue >> UInt64(Event.code.rawValue &- 1) & 1 == 1,
                Event.code == .disconnectionComplete || hasRoomForAnswers
            else { return }
        }
        event.encodePacket(into: &outbox.writer)
        outbox.commit()
    }

    /// Sends an LE Meta event. Its bit in the LE event mask is its subevent code minus one (7.8.1).
    ///
    /// A host that stops reading misses all LE events except new connections, whose number it limits itself.
    ///
    /// - Returns: whether the event is enabled.
    @discardableResult
    mutating func send<Event: LEEventBody & ~Escapable>(_ event: borrowing Event) -> Bool {
        guard wants(Event.subeventCode) else { return false }
        guard reachesHost, Event.isNewLink || hasRoomForAnswers else { return true }
        event.encodePacket(into: &outbox.writer)
        outbox.commit()
        return true
    }

    func wants(_ subevent: LESubeventCode) -> Bool {
        settings.eventMask.contains(.leMeta)
            && settings.leEventMask.rawValue >> UInt64(subevent.rawValue &- 1) & 1 == 1
    }

    // MARK: - Controller

    mutating func reportHardwareError(_ code: UInt8) {
        send(HardwareError(hardwareCode: code))
    }

    mutating func reportDataBufferOverflow() {
        send(DataBufferOverflow(linkType: 1))
    }

    /// Reports a free buffer to the host.
    @inline(__always)
    mutating func reportCompletedPacket(_ handle: ConnectionHandle) {
        guard reachesHost else { return }
        // Every data packet takes this path, so the event is written directly instead of as a list of one.
        outbox.writer.append(HCIPacketType.event.rawValue)
        outbox.writer.append(HCIEventCode.numberOfCompletedPackets.rawValue)
        outbox.writer.append(UInt8(5))
        outbox.writer.append(UInt8(1))
        outbox.writer.append(handle.rawValue)
        outbox.writer.append(UInt16(1))
        outbox.commit()
    }

    // MARK: - Connections

    /// Reports a new connection to the host.
    ///
    /// - Parameter ownAddress: the private address generated for this connection; nil if there is none.
    mutating func reportConnection(
        _ role: LinkRole, _ handle: ConnectionHandle, peer: SeenDevice, as ownAddress: DeviceAddress?,
        _ parameters: ConnectionTiming
    ) {
        var enhanced = LEEnhancedConnectionComplete(
            connectionHandle: handle, role: role.connectionRole, peerAddress: peer.reportedAddress,
            interval: parameters.interval, latency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout)
        enhanced.peerResolvablePrivateAddress = peer.resolvedAddress
        if let ownAddress { enhanced.localResolvablePrivateAddress = ownAddress }
        guard !send(enhanced) else { return }
        send(
            LEConnectionComplete(
                connectionHandle: handle, role: role.connectionRole, peerAddress: peer.address,
                interval: parameters.interval,
                latency: parameters.latency, supervisionTimeout: parameters.supervisionTimeout))
    }

    /// Reports that no connection was created.
    mutating func reportConnectionFailure(_ status: HCIStatus, role: LinkRole) {
        let noPeer = DeviceAddress(0, kind: .public)
        let interval = ConnectionInterval(rawValue: 0), timeout = SupervisionTimeout(rawValue: 0)
        var enhanced = LEEnhancedConnectionComplete(
            connectionHandle: 0, role: role.connectionRole, peerAddress: noPeer, interval: interval,
            supervisionTimeout: timeout)
        enhanced.status = status
        guard !send(enhanced) else { return }
        send(
            LEConnectionComplete(
                status: status, connectionHandle: 0, role: role.connectionRole, peerAddress: noPeer,
                interval: interval, supervisionTimeout: timeout))
    }

    mutating func reportDisconnection(_ handle: ConnectionHandle, _ reason: HCIStatus) {
        send(DisconnectionComplete(connectionHandle: handle, reason: reason))
    }

    mutating func reportRemoteFeatures(_ handle: ConnectionHandle, _ status: HCIStatus, _ features: LEFeatures) {
        send(LEReadRemoteFeaturesComplete(status: status, connectionHandle: handle, features: features))
    }

    mutating func reportRemoteVersion(_ handle: ConnectionHandle, of peer: ControllerConfiguration) {
        send(
            ReadRemoteVersionInformationComplete(
                connectionHandle: handle, version: peer.version, companyIdentifier: peer.companyIdentifier,
                subversion: peer.subversion))
    }

    mutating func reportConnectionUpdate(
        _ handle: ConnectionHandle, _ status: HCIStatus, _ parameters: ConnectionTiming
    ) {
        send(
            LEConnectionUpdateComplete(
                status: status, connectionHandle: handle, interval: parameters.interval, latency: parameters.latency,
                supervisionTimeout: parameters.supervisionTimeout))
    }

    /// Asks the host to decide. Returns false if the host has masked the event.
    mutating func reportParameterRequest(_ handle: ConnectionHandle, _ range: LEConnectionParameters) -> Bool {
        send(
            LERemoteConnectionParameterRequest(
                connectionHandle: handle, intervalMin: range.intervalMin, intervalMax: range.intervalMax,
                maxLatency: range.maxLatency, supervisionTimeout: range.supervisionTimeout))
    }

    mutating func reportDataLength(_ handle: ConnectionHandle, transmit: LEDataLength, receive: LEDataLength) {
        send(LEDataLengthChange(connectionHandle: handle, transmit: transmit, receive: receive))
    }

    mutating func reportPHYUpdate(_ handle: ConnectionHandle, transmit: LEPHY, receive: LEPHY) {
        send(LEPHYUpdateComplete(connectionHandle: handle, transmit: transmit, receive: receive))
    }

    mutating func reportTransmitPower(_ report: LETransmitPowerReporting) { send(report) }

    mutating func reportPathLoss(_ handle: ConnectionHandle, _ loss: UInt8, _ zone: PathLossZone) {
        send(LEPathLossThreshold(connectionHandle: handle, currentPathLoss: loss, zoneEntered: zone))
    }

    // MARK: - Encryption

    /// Asks the host for the key. Returns false if the host has masked the event.
    mutating func reportLongTermKeyRequest(
        _ handle: ConnectionHandle, _ randomNumber: UInt64, _ encryptedDiversifier: UInt16
    ) -> Bool {
        send(
            LELongTermKeyRequest(
                connectionHandle: handle, randomNumber: randomNumber, encryptedDiversifier: encryptedDiversifier))
    }

    /// A key refresh is reported with a separate event (7.7.39).
    mutating func reportEncryption(
        _ handle: ConnectionHandle, _ status: HCIStatus, isEnabled: Bool, isRefresh: Bool
    ) {
        if isRefresh {
            send(EncryptionKeyRefreshComplete(status: status, connectionHandle: handle))
        } else {
            send(EncryptionChange(status: status, connectionHandle: handle, encryption: isEnabled ? .on : .off))
        }
    }
}

extension LEEventBody where Self: ~Escapable {
    /// Whether this kind of event reports a new connection.
    fileprivate static var isNewLink: Bool {
        subeventCode == .connectionComplete || subeventCode == .enhancedConnectionComplete
    }
}
