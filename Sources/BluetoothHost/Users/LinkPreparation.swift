import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// What the host reads by itself from each peer whose server is used: its services, its name, and changes of its services
/// (Core 5.4, Vol 3, Part G, 7.1). Requests of users go first.
struct LinkPreparation: Sendable {
    enum Step: Equatable, Sendable {
        case services
        case name
        case serviceChanged(in: ClosedRange<AttributeHandle>)
        case descriptor(of: AttributeHandle, end: AttributeHandle)
        case configuration(AttributeHandle)
        case done
    }

    var step = Step.services
    /// Whether the step's operation is under way.
    var isRunning = false
    /// The peer's primary services, as far as they are known.
    var services: [BluetoothUUID]?
    /// The handle of the Service Changed value, which is watched; zero before it is known. Of a bonded peer it is known from the
    /// beginning.
    var serviceChanged: AttributeHandle = 0
    /// Whether no change of the peer's services is missed: Service Changed is watched, or there is none, and then services never
    /// change (Vol 3, Part G, 7.1).
    var isChangeWatched = false

    var isWaiting: Bool { !isRunning && step != .done }
}

extension SharedHost {
    /// Takes steps until one has to wait for the peer. Steps whose results are known already take no request, and nothing
    /// else would cause the next one.
    @inline(__always)
    mutating func prepare(_ slot: Int, at now: Instant) {
        while links[slot].preparation.isWaiting {
            let step = links[slot].preparation.step
            continuePreparation(slot, at: now)
            guard links[slot].preparation.step != step else { return }
        }
    }

    /// Takes the next step if the link is idle.
    private mutating func continuePreparation(_ slot: Int, at now: Instant) {
        guard links[slot].isReady, !links[slot].isEnding, links[slot].usesClient,
            links[slot].operations.isEmpty, status == .ready
        else { return }
        let operation: GATTClientOperation
        switch links[slot].preparation.step {
        case .services: operation = .discoverPrimaryServices()
        case .name: operation = .readByUUID(.deviceName)
        case .serviceChanged(let handles): operation = .discoverCharacteristics(in: handles, uuid: .serviceChanged)
        case .descriptor(let value, let end):
            operation = .discoverDescriptors(in: AttributeHandle(value.rawValue + 1)...end)
        case .configuration(let descriptor): operation = .configure(descriptor: descriptor, .indications)
        case .done: return
        }
        links[slot].preparation.isRunning = true
        start(operation, for: .preparation, slot, at: now)
    }

    /// A step has ended. Missing attributes and refusals are ignored.
    mutating func preparationStepped(
        _ result: Result<GATTClientResult, HostError>, _ slot: Int, at now: Instant
    ) {
        links[slot].preparation.isRunning = false
        switch (links[slot].preparation.step, result) {
        // `learnServices` has recorded the result.
        case (.services, _): links[slot].preparation.step = .name
        case (.name, _):
            if case .success(.values(let values)) = result, let value = values.first?.value, !value.isEmpty {
                learn(String(decoding: value, as: UTF8.self), of: links[slot].peer)
            }
            links[slot].preparation.step = links[slot].genericAttribute.map { .serviceChanged(in: $0) } ?? .done
            if links[slot].genericAttribute == nil, links[slot].preparation.services != nil { changesAreWatched(slot) }
        case (.serviceChanged, .success(.characteristics(let found))):
            if found.isEmpty { changesAreWatched(slot) }
            // One without room for descriptors cannot be watched.
            let characteristic = found.first { $0.valueHandle < $0.endHandle }
            links[slot].preparation.step =
                characteristic.map { .descriptor(of: $0.valueHandle, end: $0.endHandle) } ?? .done
        case (.descriptor(let value, _), .success(.descriptors(let found))):
            let descriptor = found.first { $0.uuid == .clientCharacteristicConfiguration }
            links[slot].preparation.serviceChanged = value
            links[slot].preparation.step = descriptor.map { .configuration($0.handle) } ?? .done
        case (.configuration, .success):
            host.keepServiceChangedHandle(links[slot].preparation.serviceChanged, of: links[slot].identifier)
            changesAreWatched(slot)
            links[slot].preparation.step = .done
        default: links[slot].preparation.step = .done
        }
        if links[slot].preparation.step == .done {
            tellServices(slot)
            verifyHash(slot, at: now)
        }
    }

    /// Records discovered services, including those that users discovered.
    mutating func learnServices(from result: GATTClientResult, _ slot: Int) {
        let services: [DiscoveredService]
        switch result {
        case .services(let found): services = found
        case .database(let database): services = database.services
        default: return
        }
        let uuids = services.map(\.uuid)
        let isNews = links[slot].preparation.services != uuids
        links[slot].preparation.services = uuids
        if let generic = services.first(where: { $0.uuid == .genericAttribute }) {
            links[slot].genericAttribute = generic.startHandle...max(generic.startHandle, generic.endHandle)
        }
        if links[slot].preparation.step == .services, !links[slot].preparation.isRunning {
            links[slot].preparation.step = .name
        }
        if isNews, links[slot].preparation.step == .done { tellServices(slot) }
    }

    private mutating func tellServices(_ slot: Int) {
        guard let services = links[slot].preparation.services else { return }
        tellAll(.servicesKnown(links[slot].identifier, services))
    }

    private mutating func learn(_ name: String, of peer: PeerID) {
        if names.set(name, of: peer) { tellAll(.nameChanged(peer, name)) }
    }

    /// Handles a value of Service Changed: the first and the last affected handle.
    mutating func servicesHaveChanged(_ payload: Payload, _ slot: Int) {
        guard payload.count == 4 else { return }
        let octets = (0..<4).map { UInt16(arena[payload.start + $0]) }
        let first = AttributeHandle(octets[0] | octets[1] << 8)
        let last = AttributeHandle(octets[2] | octets[3] << 8)
        servicesHaveChanged(in: min(first, last)...max(first, last), slot)
    }

    /// Nothing that is known of these handles holds any more.
    mutating func servicesHaveChanged(in handles: ClosedRange<AttributeHandle>, _ slot: Int) {
        links[slot].serviceChanges.add(handles)
        dropAttributes(slot)
        invalidateSubscriptions(in: handles, slot)
        invalidateOperations(in: handles, slot)
        links[slot].preparation.services = nil
        tellAll(.servicesChanged(links[slot].identifier, handles))
    }
}
