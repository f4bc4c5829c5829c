import BluetoothAdapter
import BluetoothGAP
import BluetoothHost
import Foundation
import Synchronization

/// Delivers the events of a central manager, on its queue.
extension CentralSession {
    /// - Parameter octets: the octets that belong to the event.
    func handle(_ event: consuming CentralEvent, _ octets: borrowing Span<UInt8>) {
        switch consume event {
        case .value(let link, let handle):
            link.takeOut(octets.count)
            if let session = link.user { session.peripheral?.received(octets, at: handle, session) }
        case .discovered(let found, let scan): discovered(found, in: scan)
        case .operationEnded(let link, let operation, let result, let pipe):
            // Operations that fail because the connection has ended are not reported, since the end itself is.
            guard let session = link.user, !result.isEndOfLink else { return pipe?.close() ?? () }
            if case .locate = operation { return session.located(result, on: link) }
            // A peripheral that is gone has closed its channels.
            session.peripheral?.finished(operation, result, session, pipe)
        case .readyToWrite(let link):
            // The application may have used the credits in the meantime. This check then requests another event.
            guard link.canWriteCommands else { return }
            tell(link) { $0.delegate?.peripheralIsReady(toSendWriteWithoutResponse: $0) }
        case .rssi(let link, let result): if !result.isEndOfLink { tell(link) { $0.rssiRead(result) } }
        case .mtuChanged(let link, let mtu): tell(link) { $0.mtu = mtu }
        case .lost(let link, let loss):
            link.takeOut(0)
            if let session = link.user { session.peripheral?.lost(loss, session) }
        case .servicesChanged(let link, let handles, let number):
            link.takeOut(0)
            link.tellsChange(number)
            tell(link) { $0.servicesChanged(in: handles) }
        case .connected(let session, let link, let mtu): session.connected(link, mtu: mtu)
        case .connectionFailed(let session, let error): session.failed(error, through: manager.object?.attachment)
        case .linkEnded(let link, let reason):
            let session = link.user
            link.end()
            session?.linkEnded(reason, through: manager.object?.attachment)
        case .cancelled(let session):
            guard let peripheral = session.peripheral, let manager = peripheral.manager else { return }
            // The next connection may have begun already.
            _ = peripheral.endSession(session)
            manager.delegate?.centralManager(
                manager, didDisconnectPeripheral: peripheral, timestamp: environment.now,
                isReconnecting: false, error: nil)
        case .nameChanged(let peer, let name): manager.object?.known(peer)?.nameChanged(to: name)
        case .scanEnded(let number, let error):
            reportFailure("the scan has ended: \(error)")
            guard scanFailed(number) else { return }
            if let manager = manager.object, manager.scans == number { manager.scanning = false }
        case .connectionEvent(let peer, let services, let isConnected):
            let identifier = environment.identities.identifier(for: peer)
            guard wantsConnectionEvent(identifier, services), let manager = manager.object else { return }
            manager.delegate?.centralManager(
                manager, connectionEventDidOccur: isConnected ? .peerConnected : .peerDisconnected,
                for: manager.peripheral(peer))
        case .restored(let dictionary):
            guard let manager = manager.object else { return }
            manager.delegate?.centralManager(manager, willRestoreState: dictionary)
        case .state(let state, let attachment):
            if let manager = manager.object { stateChanged(to: state, attachment, manager) }
        }
    }

    private func discovered(_ found: FoundDevices, in scan: UInt64) {
        waitingSightings.subtract(found.range.count, ordering: .relaxed)
        guard var manager = manager.object else { return }
        let adapter = environment.adapter
        let namesVersion = adapter.names.version
        var delegate = HeldDelegate(of: manager)
        // An anonymous advertiser is not reported: it has no address to connect to.
        for index in found.range where !found.sightings[index].details.isAnonymous {
            manager.discovered(index, of: found, in: scan, adapter, namesVersion: namesVersion, to: delegate)
            delegate.update(from: manager)
            // In its callback, the application may have released the manager.
            if isKnownUniquelyReferenced(&manager) { return }
        }
    }

    /// Calls `body` with the peripheral of a link, while it is connected.
    private func tell(_ link: PeripheralLink, _ body: (CBPeripheral) -> Void) {
        guard let session = link.user, let peripheral = session.peripheral, peripheral.isConnected(by: session)
        else { return }
        body(peripheral)
    }

    private func stateChanged(to state: CBManagerState, _ attachment: Attachment?, _ manager: CBCentralManager) {
        _ = manager.attachment?.end()
        manager.attachment = attachment
        if state == .poweredOn, isRestoring { manager.scanning = wantedScan != nil }
        if state != .poweredOn, !isRestoring {
            manager.scanning = false
            let ended = lock.withLock {
                defer { peripherals = [:] }
                wantedScan = nil
                return peripherals.values
            }
            changed()
            for session in ended { session.end() }
            for peripheral in manager.livingPeripherals { peripheral.adapterIsOff() }
        }
        manager.currentState = state
        if let attachment, isRestoring { resume(manager, through: attachment) }
        manager.delegate?.centralManagerDidUpdateState(manager)
    }
}

extension Result where Failure == HostError {
    /// Whether a call failed because the link has ended or the adapter is gone.
    fileprivate var isEndOfLink: Bool {
        switch self {
        case .failure(.disconnected), .failure(.noSuchLink), .failure(.adapterRemoved), .failure(.notReady),
            .failure(.controllerReset):
            true
        default: false
        }
    }
}
