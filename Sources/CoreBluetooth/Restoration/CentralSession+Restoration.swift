import BluetoothBase
import BluetoothHost
import Foundation

/// The next run continues the work of a central manager.
extension CentralSession {
    /// Restores the state of the last run, and reports it to the application before anything else.
    func restore() {
        guard let saved = stateOfLastRun("central", { [self] in savedState }), let manager = manager.object
        else { return }
        isRestoring = true
        lock.withLock { wantedScan = saved.scan?.wanted }
        let restored = saved.peripherals.compactMap { restore($0, of: manager) }
        post(.restored(Self.dictionary(saved.scan, restored)))
    }

    private func restore(_ saved: CentralState.Peripheral, of manager: CBCentralManager) -> CBPeripheral? {
        guard let address = saved.deviceAddress else { return nil }
        let peripheral = manager.peripheral(PeerID(address), name: saved.name)
        guard let session = peripheral.beginConnecting(isReconnecting: saved.isReconnecting) else { return nil }
        peripheral.attributes = saved.restored(of: peripheral)
        session.remembered = saved
        session.relocation = Relocation(of: peripheral)
        lock.withLock { peripherals[ObjectIdentifier(session)] = session }
        return peripheral
    }

    private static func dictionary(_ scan: CentralState.Scan?, _ peripherals: [CBPeripheral]) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        if !peripherals.isEmpty { dictionary[CBCentralManagerRestoredStatePeripheralsKey] = peripherals }
        guard let scan else { return dictionary }
        if !scan.services.isEmpty {
            dictionary[CBCentralManagerRestoredStateScanServicesKey] = scan.services.map(\.uuid)
        }
        if !scan.options.isEmpty { dictionary[CBCentralManagerRestoredStateScanOptionsKey] = scan.options }
        return dictionary
    }

    /// Continues the restored scan and connections, now that the adapter is on.
    func resume(_ manager: CBCentralManager, through attachment: Attachment) {
        isRestoring = false
        let (wantedScan, waiting) = lock.withLock { (self.wantedScan, peripherals.values) }
        if let wantedScan { scan(for: wantedScan, number: manager.scans, through: attachment) }
        for session in waiting where session.relocation != nil { session.connect(through: attachment) }
    }

    // MARK: - Saving

    /// The state to save may have changed.
    func changed() {
        guard let keeper else { return }
        lock.withLock { lingering = [] }
        keeper.changed()
    }

    private var savedState: CentralState {
        let (wanted, all) = lock.withLock { (wantedScan, self.peripherals.values.compactMap { $0.state } + lingering) }
        var known: Set<String> = []
        let peripherals = all.filter { known.insert($0.address).inserted }.sorted { $0.address < $1.address }
        return CentralState(
            scan: wanted.map { CentralState.Scan($0) },
            peripherals: Array(peripherals.prefix(CentralState.maximumPeripherals)))
    }
}
