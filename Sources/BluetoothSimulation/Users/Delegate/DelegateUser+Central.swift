import BluetoothBase
import CoreBluetooth
import Foundation

/// The callbacks of the central manager.
extension DelegateUser: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ manager: CBCentralManager) {
        guard manager === central else { return fail(.application, "a manager that is gone tells its state") }
        note(manager.state, isServer: false)
        guard manager.state != .poweredOn else { return poweredOn() }
        if manager.isScanning { fail(.application, "a scan goes on without an adapter") }
        for peer in peers {
            if peer.peripheral.state != .disconnected { fail(.application, "a connection outlives its adapter") }
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
        if !manager.isScanning { fail(.application, "didDiscover without a scan") }
        guard let station = station(of: peripheral.identifier) else {
            if run.isDamaged(self.station) { return }
            return fail(.application, "a peripheral where nobody is")
        }
        if let known = peers.first(where: { $0.station == station }), known.peripheral !== peripheral {
            fail(.application, "another object for a peripheral that is held")
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
            return fail(.application, "didConnect of a peripheral that was let go")
        }
        if peer.phase != .connecting || peripheral.state != .connected {
            fail(.application, "didConnect while \(peer.phase), the state being \(peripheral.state)")
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
        guard let peer = peer(peripheral) else { return fail(.application, "the failure of what was let go") }
        if peer.phase != .connecting || peripheral.state != .disconnected || error == nil {
            fail(.application, "didFailToConnect while \(peer.phase), the state being \(peripheral.state)")
        }
        peer.reset(to: .idle)
    }

    func centralManager(
        _ manager: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
    ) {
        checkCentral("didDisconnect")
        guard let peer = peer(peripheral) else { return fail(.application, "the end of what was let go") }
        guard error != nil else { return wasCancelled(peer) }
        if peer.phase != .connected { fail(.application, "an end that was not asked for while \(peer.phase)") }
        if peripheral.state != (isReconnecting ? .connecting : .disconnected) {
            fail(.application, "didDisconnect, the state being \(peripheral.state)")
        }
        peer.reset(to: isReconnecting ? .connecting : .idle)
        if isReconnecting, isCalm { return cancel(peer) }
        if !isReconnecting, !isCalm, generator.oneIn(2) { connect(peer, isReconnecting: false) }
    }

    private func wasCancelled(_ peer: DelegatePeer) {
        guard peer.cancellations > 0 else { return fail(.endsOnce, "an end without an error that was not asked for") }
        peer.cancellations -= 1
        guard peer.phase == .disconnecting, peer.cancellations == 0 else { return }
        peer.reset(to: .idle)
        if peer.peripheral.state != .disconnected { fail(.application, "\(peer.peripheral.state) after the end") }
    }

    // MARK: - Calls

    func scan(_ pick: inout SeededGenerator) {
        guard let central, central.state == .poweredOn else { return }
        call()
        central.scanForPeripherals(
            withServices: pick.oneIn(2) ? nil : [CBUUID(SimulatedService.uuid)],
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: pick.oneIn(4)])
        if !central.isScanning { fail(.application, "no scan after it was begun") }
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
        if peer.peripheral.state != .connecting { fail(.application, "\(peer.peripheral.state) after connect") }
    }

    func cancel(_ peer: DelegatePeer) {
        guard let central, central.state == .poweredOn, peer.phase == .connecting || peer.isConnected else { return }
        call()
        peer.reset(to: .disconnecting)
        peer.cancellations += 1
        central.cancelPeripheralConnection(peer.peripheral)
        if peer.peripheral.state != .disconnecting {
            fail(.application, "\(peer.peripheral.state) after cancelPeripheralConnection")
        }
    }
}
