import BluetoothLE
import Foundation

/// What a central manager does, on the engine. It knows the manager weakly: with that everything ends.
@BluetoothEngine
final class CentralSession: AdapterUser {
    nonisolated let manager = WeakReference<CBCentralManager>()
    nonisolated let delivery: Delivery
    nonisolated let environment: ManagerEnvironment
    let options: CentralOptions

    private(set) var shared: SharedAdapter?
    /// The scan that is wanted, and carried out while the adapter is on.
    private var scanTask: Task<Void, Never>?
    /// The peripherals that are connected, or are to be.
    var peripherals: [ObjectIdentifier: PeripheralSession] = [:]
    var wantedConnectionEvents: WantedConnectionEvents?
    /// The scan, from when it is asked for until it is not wanted any more.
    var wantedScan: WantedScan?
    /// How often the adapter has gone off: what the application asked for before it knew of that is over.
    private(set) var era = 0
    /// What is remembered of peripherals that the application has let go of, until something else changes.
    var lingering: [CentralState.Peripheral] = []
    /// Where it remembers what it does, if it is to.
    var keeper: StateKeeper<CentralState>?
    /// Whether what the last run has left waits for the adapter to be on.
    var isRestoring = false
    private(set) var isStopped = false

    nonisolated init(delivery: Delivery, environment: ManagerEnvironment, options: CentralOptions) {
        self.delivery = delivery
        self.environment = environment
        self.options = options
    }

    func start() async {
        await restore()
        guard !isStopped else { return }
        let shared = SharedAdapter.at(environment.transport)
        self.shared = shared
        shared.add(self)
    }

    /// Ends everything, since the manager is gone.
    func stop() async {
        isStopped = true
        stopRemembering()
        scanTask?.cancel()
        for peripheral in peripherals.values { await peripheral.abandon() }
        shared?.remove(self)
        shared = nil
    }

    /// Has the application told something, after all it was told before.
    func tell(_ body: @escaping (CBCentralManager) -> Void) {
        delivery.post { [manager] in
            if let manager = manager.object { body(manager) }
        }
    }

    // MARK: - The adapter

    func adapterChanged(to state: CBManagerState) {
        let isResuming = isRestoring && state == .poweredOn
        if isRestoring, !isResuming { return stateChanged(to: state) }
        isRestoring = false
        if state != .poweredOn {
            era += 1
            scanTask?.cancel()
            scanTask = nil
            // Each has been told of the end of its link already; those that were still to connect give up.
            for peripheral in peripherals.values { peripheral.adapterIsOff() }
            peripherals = [:]
            wantedScan = nil
            changed()
        }
        let isScanning = isResuming && wantedScan != nil
        let era = era
        stateChanged(to: state) { manager in
            if isScanning { manager.scanning = true }
            if state != .poweredOn {
                manager.era = era
                manager.scanning = false
                for peripheral in manager.livingPeripherals { peripheral.adapterIsOff() }
            }
        }
        if isResuming { resume() }
    }

    private func stateChanged(to state: CBManagerState, _ change: @escaping (CBCentralManager) -> Void = { _ in }) {
        tell { manager in
            change(manager)
            manager.currentState = state
            manager.delegate?.centralManagerDidUpdateState(manager)
        }
    }

    func linkChanged(to peer: DeviceAddress, services: Set<BluetoothUUID>, isConnected: Bool) {
        let identifier = environment.identities.identifier(for: peer)
        guard let wantedConnectionEvents, wantedConnectionEvents.matches(identifier, services: services) else { return }
        let name = environment.names[peer]
        tell { manager in
            manager.delegate?.centralManager(
                manager, connectionEventDidOccur: isConnected ? .peerConnected : .peerDisconnected,
                for: manager.peripheral(identifier, peer, name: name))
        }
    }

    // MARK: - Scanning

    /// - Parameters:
    ///   - number: the how manieth scan of the manager it is.
    ///   - era: how often the adapter had gone off when it was asked for.
    func scan(for wanted: WantedScan, number: UInt64, in era: Int) {
        scanTask?.cancel()
        guard let adapter = shared?.adapter, era == self.era else { return }
        wantedScan = wanted
        changed()
        scanTask = Task { [weak self, environment] in
            do {
                let parameters = ScanParameters(reportsDuplicates: wanted.allowsDuplicates)
                for try await sighting in try await adapter.scan(for: wanted.filter, parameters: parameters) {
                    let advertisement = sighting.advertisement
                    guard wanted.matches(advertisement) else { continue }
                    // A scan that was replaced meanwhile is over.
                    guard !Task.isCancelled, let self else { return }
                    discovered(
                        sighting, advertisement, environment.identities.identifier(for: sighting.address), in: number)
                    await delivery.room()
                }
            } catch {
                guard !Task.isCancelled else { return }
                reportFailure("the scan has ended: \(error)")
                self?.scanEnded(number)
            }
        }
    }

    func stopScan() {
        wantedScan = nil
        changed()
        scanTask?.cancel()
        scanTask = nil
    }

    /// A scan has ended by itself.
    private func scanEnded(_ number: UInt64) {
        wantedScan = nil
        changed()
        tell { if $0.scans == number { $0.scanning = false } }
    }

    /// 127 stands for a strength that is not known.
    nonisolated static func rssi(of measured: Int8?) -> NSNumber { NSNumber(value: measured ?? 127) }

    private func discovered(
        _ sighting: Sighting, _ advertisement: AdvertisementData, _ identifier: UUID, in scan: UInt64
    ) {
        let name = environment.names[sighting.address] ?? sighting.name
        let rssi = Self.rssi(of: sighting.rssi)
        let dictionary = AdvertisementDictionary.make(sighting, advertisement)
        let address = sighting.address
        tell { manager in
            // What comes after `stopScan` is not wanted any more, nor what another scan has found.
            guard manager.scanning, manager.scans == scan else { return }
            let peripheral = manager.peripheral(identifier, address, name: name)
            if let name { peripheral.currentName = name }
            manager.delegate?.centralManager(
                manager, didDiscover: peripheral, advertisementData: dictionary, rssi: rssi)
        }
    }

    // MARK: - Connecting

    /// - Parameter era: how often the adapter had gone off when it was asked for.
    func connect(_ peripheral: PeripheralSession, _ options: ConnectOptions, in era: Int) {
        // Called off already, by another thread.
        guard !peripheral.isOver else { return }
        guard let shared, shared.state == .poweredOn, era == self.era else { return peripheral.adapterIsOff() }
        peripherals[ObjectIdentifier(peripheral)] = peripheral
        peripheral.connect(through: shared, options)
        changed()
    }

    func cancel(_ peripheral: PeripheralSession) async {
        peripherals[ObjectIdentifier(peripheral)] = nil
        changed()
        await peripheral.cancel()
    }

    /// A peripheral is neither connected any more nor to be.
    func ended(_ peripheral: PeripheralSession) {
        peripherals[ObjectIdentifier(peripheral)] = nil
        changed()
    }

    /// The application has let go of a peripheral. Whether it was done with that, or ends altogether, is not known yet, so
    /// what is on disk stays until there is something else to write.
    func abandoned(_ peripheral: PeripheralSession) {
        guard peripherals.removeValue(forKey: ObjectIdentifier(peripheral)) != nil, keeper != nil else { return }
        if let state = peripheral.state { lingering.append(state) }
    }
}
