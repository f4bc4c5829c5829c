import BluetoothBase
import CoreBluetooth
import Foundation

/// The callbacks of the central manager.
extension DelegateUser: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ manager: CBCentralManager) {
        guard manager === central else { return fail(.application, "a deallocated manager reported its state") }
        note(manager.state, isServer: false)
        guard manager.state != .poweredOn else { return poweredOn() }
        if manager.isScanning { fail(.application, "isScanning is true without an adapter") }
        for peer in peers {
            if peer.peripheral.state != .disconnected {
                fail(.application, "a connection still exists after its adapter was removed")
            }
            peer.cancellations = 0
            peer.reset(to: .idle)
        }
    }

    /// Resumes earlier activities, like most apps.
    private func poweredOn() {
        guard !isCalm else { return }
        var pick = SeededGenerator(seed: generator.next())
        if pick.oneIn(2) { scan(&pick) }
        for peer in peers where generator.oneIn(2) { connect(peer, isReconnecting: false) }
    }

    func centralManager(
        _ manager: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        checkCentral("didDiscover")
        if !manager.isScanning { fail(.application, "didDiscover was called without a scan") }
        guard let station = station(of: peripheral.identifier) else {
            if run.isDamaged(self.station) { return }
            return fail(.application, "a peripheral was discovered at an address that no station has")
        }
        if let known = peers.first(where: { $0.station == station }), known.peripheral !== peripheral {
            fail(.application, "a retained peripheral was discovered as another object")
        }
        if peers.count < 4, peer(peripheral) == nil { take(peripheral, at: station) }
    }

    @discardableResult
    func take(_ peripheral: CBPeripheral, at station: Int) -> DelegatePeer {
        let peer = DelegatePeer(peripheral, at: station)
        peripheral.delegate = self
        peers.append(peer)
        return peer
    }

    func centralManager(_ manager: CBCentralManager, didConnect peripheral: CBPeripheral) {
        checkCentral("didConnect")
        guard let peer = peer(peripheral) else {
            return fail(.application, "didConnect was called for a released peripheral")
        }
        if peer.phase != .connecting || peripheral.state != .connected {
            fail(.application, "didConnect was called while \(peer.phase), in the state \(peripheral.state)")
        }
        peer.reset(to: .connected)
        call()
        peer.begin(.services, unwatchedEpoch: unwatchedEpoch(of: peer.station))
        peripheral.discoverServices(nil)
    }

    func centralManager(
        _ manager: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        checkCentral("didFailToConnect")
        guard let peer = peer(peripheral) else {
            return fail(.application, "didFailToConnect was called for a released peripheral")
        }
        if peer.phase != .connecting || peripheral.state != .disconnected || error == nil {
            fail(.application, "didFailToConnect was called while \(peer.phase), in the state \(peripheral.state)")
        }
        peer.reset(to: .idle)
    }

    func centralManager(
        _ manager: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        checkCentral("didDisconnect")
        guard let peer = peer(peripheral) else {
            return fail(.application, "didDisconnect was called for a released peripheral")
        }
        guard error != nil else { return wasCancelled(peer) }
        if peer.phase != .connected {
            fail(.application, "didDisconnect was called without a request while \(peer.phase)")
        }
        if peripheral.state != (isReconnecting ? .connecting : .disconnected) {
            fail(.application, "didDisconnect was called in the state \(peripheral.state)")
        }
        peer.reset(to: isReconnecting ? .connecting : .idle)
        if isReconnecting, isCalm { return cancel(peer) }
        if !isReconnecting, !isCalm, generator.oneIn(2) { connect(peer, isReconnecting: false) }
    }

    private func wasCancelled(_ peer: DelegatePeer) {
        guard peer.cancellations > 0 else {
            return fail(.endsOnce, "didDisconnect was called without an error and without a request")
        }
        peer.cancellations -= 1
        guard peer.phase == .disconnecting, peer.cancellations == 0 else { return }
        peer.reset(to: .idle)
        if peer.peripheral.state != .disconnected {
            fail(.application, "the state is \(peer.peripheral.state) after the disconnection")
        }
    }

    // MARK: - Calls

    func scan(_ pick: inout SeededGenerator) {
        guard let central, central.state == .poweredOn else { return }
        call()
        central.scanForPeripherals(
            withServices: pick.oneIn(2) ? nil : [CBUUID(SimulatedService.uuid)],
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: pick.oneIn(4)])
        if !central.isScanning { fail(.application, "isScanning is false after scanForPeripherals") }
        inSomeSeconds { $0.stopScanning() }
    }

    func connect(_ peer: DelegatePeer, isReconnecting: Bool) {
        guard let central, central.state == .poweredOn, peer.phase == .idle || peer.phase == .disconnecting else {
            return
        }
        call()
        peer.reset(to: .connecting)
        central.connect(
            peer.peripheral, options: isReconnecting ? [CBConnectPeripheralOptionEnableAutoReconnect: true] : nil)
        if peer.peripheral.state != .connecting {
            fail(.application, "the state is \(peer.peripheral.state) after connect")
        }
    }

    func cancel(_ peer: DelegatePeer) {
        guard let central, central.state == .poweredOn, peer.phase == .connecting || peer.isConnected else { return }
        call()
        peer.reset(to: .disconnecting)
        peer.cancellations += 1
        central.cancelPeripheralConnection(peer.peripheral)
        if peer.peripheral.state != .disconnecting {
            fail(.application, "the state is \(peer.peripheral.state) after cancelPeripheralConnection")
        }
    }
}
