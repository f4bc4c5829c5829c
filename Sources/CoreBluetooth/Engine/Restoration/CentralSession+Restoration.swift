import BluetoothLE
import Foundation

/// What a central manager does goes on in the next run.
extension CentralSession {
    /// Takes up what the last run has left, and tells the application of that before anything else.
    func restore() async {
        guard let identifier = options.restoreIdentifier else { return }
        let file = StateFile("central", identifier, in: environment.stateDirectory)
        guard StateClaims.claim(file) else {
            return reportMisuse("a central manager with the restore identifier \(identifier) is there already")
        }
        let keeper = StateKeeper(file) { [weak self] in self?.state }
        self.keeper = keeper
        guard let saved = await keeper.restore(), !isStopped, let manager = manager.object else { return }
        isRestoring = true
        wantedScan = saved.scan?.wanted
        let restored = saved.peripherals.compactMap { restore($0, of: manager) }
        tell { manager in
            manager.delegate?.centralManager(manager, willRestoreState: Self.dictionary(saved.scan, restored))
        }
    }

    private func restore(_ saved: CentralState.Peripheral, of manager: CBCentralManager) -> CBPeripheral? {
        guard let address = saved.deviceAddress else { return nil }
        let peripheral = manager.peripheral(environment.identities.identifier(for: address), address, name: saved.name)
        guard let session = peripheral.restore(saved, of: self) else { return nil }
        session.remembered = saved
        peripherals[ObjectIdentifier(session)] = session
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

    /// Goes on with it, since the adapter is on.
    func resume() {
        if let wantedScan { scan(for: wantedScan, number: 0, in: era) }
        guard let shared else { return }
        for peripheral in peripherals.values where peripheral.isRestored {
            peripheral.connect(through: shared, ConnectOptions(isReconnecting: peripheral.isReconnecting))
        }
    }

    // MARK: - Remembering

    /// What it does is something else now, perhaps.
    func changed() {
        lingering = []
        keeper?.changed()
    }

    func stopRemembering() {
        guard let keeper else { return }
        keeper.close()
        StateClaims.release(keeper.file)
        self.keeper = nil
    }

    private var state: CentralState {
        var known: Set<String> = []
        let peripherals = (peripherals.values.compactMap { $0.state } + lingering)
            .filter { known.insert($0.address).inserted }
            .sorted { $0.address < $1.address }
        return CentralState(
            scan: wantedScan.map { CentralState.Scan($0) },
            peripherals: Array(peripherals.prefix(CentralState.maximumPeripherals)))
    }
}
