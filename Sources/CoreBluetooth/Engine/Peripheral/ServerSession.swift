import BluetoothLE
import Foundation

/// What a peripheral manager does, on the engine. It knows the manager weakly: with that everything ends.
@BluetoothEngine
final class ServerSession: AdapterUser {
    nonisolated let manager = WeakReference<CBPeripheralManager>()
    nonisolated let delivery: Delivery
    nonisolated let environment: ManagerEnvironment
    let restoreIdentifier: String?

    private var shared: SharedAdapter?
    /// The adapter while it is on.
    private(set) var adapter: Adapter?
    /// What changes the database and the advertisement, in the order in which it was asked for.
    private let work = WorkQueue()
    /// The services that are published or, while the adapter is off, will be again.
    var services: [Service] = []
    /// Those of them that are about to be withdrawn.
    private(set) var unwanted: Set<ObjectIdentifier> = []
    private var isAdvertising = false
    /// What is advertised, or is to be when the adapter is on.
    var wantedAdvertisement: WantedAdvertisement?
    /// Where it remembers what it does, if it is to.
    var keeper: StateKeeper<ServerState>?
    /// Whether what the last run has left waits for the adapter to be on.
    var isRestoring = false
    private(set) var isStopped = false
    /// How often the adapter has been switched off: what was asked for before that is over.
    private var era = 0
    private var events: Task<Void, Never>?
    private var sequence: EventSequence<CharacteristicEvent>?
    /// The characteristics' handles, those of their values.
    private(set) var handles: [ObjectIdentifier: AttributeHandle] = [:]
    /// The centrals that have had to do with our services.
    var centrals: [DeviceAddress: CentralLink] = [:]

    struct Service {
        let definition: ServiceDefinition
        var published: PublishedService?

        var identifier: ObjectIdentifier { ObjectIdentifier(definition.service) }
    }

    nonisolated init(delivery: Delivery, environment: ManagerEnvironment, restoreIdentifier: String?) {
        self.delivery = delivery
        self.environment = environment
        self.restoreIdentifier = restoreIdentifier
    }

    func start() async {
        await restore()
        guard !isStopped else { return }
        let shared = SharedAdapter.at(environment.transport)
        self.shared = shared
        shared.add(self)
    }

    /// Ends everything, since the manager is gone.
    func stop() {
        isStopped = true
        stopRemembering()
        events?.cancel()
        work.removeAll()
        centrals = [:]
        // While the adapter is off there is nothing to take back.
        guard adapter != nil else { return letGo() }
        // Behind what has begun, which may be the publishing of one more service.
        work.add { [self] in
            if isAdvertising { await shared?.stopAdvertising(for: self) }
            for service in services { await takeBack(service) }
            letGo()
        }
    }

    private func letGo() {
        services = []
        adapter = nil
        shared?.remove(self)
        shared = nil
    }

    private func takeBack(_ service: Service) async {
        guard let published = service.published, let adapter else { return }
        do throws(BluetoothError) {
            try await published.withdraw()
        } catch {
            // It is away, of which we have not been told. When it is back it would have the service still.
            Task { await adapter.withdrawWhenReady(published) }
        }
    }

    /// Has the application told something, after all it was told before.
    nonisolated func tell(_ body: @escaping (CBPeripheralManager) -> Void) {
        delivery.post { [manager] in
            if let manager = manager.object { body(manager) }
        }
    }

    // MARK: - The adapter

    func adapterChanged(to state: CBManagerState) {
        let isResuming = isRestoring && state == .poweredOn
        if isRestoring, !isResuming { return stateChanged(to: state) }
        isRestoring = false
        if state == .poweredOn { adapterIsOn() } else { adapterIsOff(state) }
        let advertisement = isResuming ? wantedAdvertisement : nil
        let era = era
        stateChanged(to: state) { manager in
            if advertisement != nil { manager.resumeAdvertising() }
            if state != .poweredOn {
                manager.era = era
                manager.endAdvertising()
                manager.forgetCentrals()
                if state.isBelowPoweredOff { manager.forgetServices() }
            }
        }
        if let advertisement { advertiseAgain(advertisement) }
    }

    private func stateChanged(to state: CBManagerState, _ change: @escaping (CBPeripheralManager) -> Void = { _ in }) {
        tell { manager in
            change(manager)
            manager.currentState = state
            manager.delegate?.peripheralManagerDidUpdateState(manager)
        }
    }

    private func adapterIsOn() {
        guard let adapter = shared?.adapter else { return }
        self.adapter = adapter
        let sequence = adapter.characteristicEvents()
        self.sequence = sequence
        events = Task { [weak self] in
            do {
                for try await event in sequence { await self?.handle(event) }
            } catch {
                // The adapter is gone: told by its state.
            }
        }
        // What was published before the adapter was switched off is published again.
        for service in services { publish(service.definition, in: era, isAgain: true) }
    }

    private func adapterIsOff(_ state: CBManagerState) {
        events?.cancel()
        sequence = nil
        centrals = [:]
        handles = [:]
        era += 1
        let (gone, adapter) = (services.compactMap(\.published), adapter)
        services = state.isBelowPoweredOff ? [] : services.map { Service(definition: $0.definition) }
        isAdvertising = false
        wantedAdvertisement = nil
        changed()
        self.adapter = nil
        // An adapter that is reset takes up again by itself what it did. Here that is over, also where the manager goes.
        let withdrawal = Task {
            for service in gone { await adapter?.withdrawWhenReady(service) }
        }
        work.add { await withdrawal.value }
    }

    func linkChanged(to peer: DeviceAddress, services: Set<BluetoothUUID>, isConnected: Bool) {
        if !isConnected { centrals[peer] = nil }
    }

    // MARK: - Services

    /// - Parameters:
    ///   - era: how often the adapter had gone off when it was asked for.
    ///   - isAgain: whether the application has been told already.
    func publish(_ definition: ServiceDefinition, in era: Int, isAgain: Bool = false) {
        work.add { [self] in
            if isAgain, !services.contains(where: { $0.identifier == ObjectIdentifier(definition.service) }) { return }
            let failure = await published(definition, in: era)
            // The adapter is off again, and when it is on the service has another turn.
            if isAgain, era != self.era { return }
            if isAgain, let failure { reportFailure("\(definition.service) is not published any more: \(failure)") }
            let characteristics = definition.characteristics.compactMap { characteristic in
                handles[ObjectIdentifier(characteristic)].map { ($0, characteristic) }
            }
            tell { manager in
                if failure == nil {
                    manager.added(definition.service, characteristics)
                } else {
                    manager.forget(definition.service)
                }
                guard !isAgain else { return }
                manager.delegate?.peripheralManager(manager, didAdd: definition.service, error: failure)
            }
        }
    }

    /// Tells that a service cannot be published, after what was asked for before.
    func refuse(_ service: CBMutableService, _ error: CBError) {
        work.add { [self] in
            tell { manager in
                manager.forget(service)
                manager.delegate?.peripheralManager(manager, didAdd: service, error: error)
            }
        }
    }

    private func published(_ wanted: ServiceDefinition, in era: Int) async -> (any Error)? {
        guard let adapter, let sequence, era == self.era else { return CBError(.unknown) }
        let identifier = ObjectIdentifier(wanted.service)
        var definition = wanted.definition
        do throws(BluetoothError) {
            for identifier in wanted.included {
                guard let included = services.first(where: { $0.identifier == identifier })?.published
                else { throw .invalidDefinition("a service that is included has to be added before") }
                definition.includes.append(included.handles.declaration)
            }
            let published = try await adapter.publish(definition, events: sequence)
            guard era == self.era else {
                work.add { await adapter.withdrawWhenReady(published) }
                return CBError(.unknown)
            }
            let service = Service(definition: wanted, published: published)
            if let index = services.firstIndex(where: { $0.identifier == identifier }) {
                services[index] = service
            } else {
                services.append(service)
            }
            changed()
            for (object, characteristic) in zip(wanted.characteristics, published.characteristics) {
                handles[ObjectIdentifier(object)] = characteristic.handle
            }
            return nil
        } catch {
            if era == self.era {
                services.removeAll { $0.identifier == identifier }
                changed()
            }
            return CBError.error(for: error, orElse: .unknown)
        }
    }

    func withdraw(_ identifiers: [ObjectIdentifier]) {
        unwanted.formUnion(identifiers)
        changed()
        work.add { [self] in
            for service in services where identifiers.contains(service.identifier) {
                await takeBack(service)
                for characteristic in service.definition.characteristics {
                    handles[ObjectIdentifier(characteristic)] = nil
                }
            }
            services.removeAll { identifiers.contains($0.identifier) }
            unwanted.subtract(identifiers)
            changed()
        }
    }

    // MARK: - Advertising

    /// - Parameters:
    ///   - stops: how often the manager had ended advertising when it asked for this.
    ///   - era: how often the adapter had gone off then.
    func advertise(_ wanted: WantedAdvertisement, after stops: UInt64, in era: Int) {
        work.add { [self] in
            let failure = await advertising(wanted, in: era)
            tell { manager in
                if failure == nil { manager.beganAdvertising(after: stops) }
                manager.delegate?.peripheralManagerDidStartAdvertising(manager, error: failure)
            }
        }
    }

    private func advertising(_ wanted: WantedAdvertisement, in era: Int) async -> (any Error)? {
        guard let shared, adapter != nil, era == self.era else { return CBError(.unknown) }
        guard !isAdvertising else { return CBError(.alreadyAdvertising) }
        isAdvertising = true
        do throws(BluetoothError) {
            try await shared.advertise(wanted, for: self)
            if era == self.era {
                wantedAdvertisement = wanted
                changed()
            }
            return nil
        } catch {
            if era == self.era { isAdvertising = false }
            return CBError.error(for: error, orElse: .unknown)
        }
    }

    /// Goes on with what a run before advertised, behind the services, without telling the application.
    private func advertiseAgain(_ wanted: WantedAdvertisement) {
        let era = era
        work.add { [self] in
            guard let failure = await advertising(wanted, in: era), era == self.era else { return }
            reportFailure("what was advertised is not any more: \(failure)")
            wantedAdvertisement = nil
            changed()
            tell { $0.endAdvertising() }
        }
    }

    func stopAdvertising() {
        wantedAdvertisement = nil
        changed()
        work.add { [self] in
            guard isAdvertising else { return }
            wantedAdvertisement = nil
            changed()
            isAdvertising = false
            await shared?.stopAdvertising(for: self)
        }
    }
}

extension Adapter {
    /// Withdraws a service, after the controller is back where it is away.
    fileprivate func withdrawWhenReady(_ service: PublishedService) async {
        let events = events()
        do throws(BluetoothError) {
            try await service.withdraw()
        } catch {
            guard error == .adapterRemoved else { return }
            do {
                for try await case .ready in events { return try await service.withdraw() }
            } catch {
                // The adapter has been closed, and with it everything.
            }
        }
    }
}
