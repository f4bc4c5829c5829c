import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Reads what the host needs from each peer whose server is used: its services and its name. It also subscribes to
/// Service Changed (Core 5.4, Vol 3, Part G, 7.1). Requests of users take precedence.
struct LinkPreparation: StateMachine {
    private enum Step: Hashable, Sendable {
        case services
        case name
        case serviceChanged(in: ClosedRange<AttributeHandle>)
        case descriptor(of: AttributeHandle, end: AttributeHandle)
        case configuration(AttributeHandle)
        /// Discovers the services again on a peer without a Database Hash, because a change before the subscription to
        /// Service Changed was not indicated.
        case verification
    }

    private enum Phase: Hashable, Sendable {
        /// The peer's server has not been used yet. As a peripheral, this host may never use it.
        case unused
        /// The step starts when the link is idle.
        case waiting(Step)
        case running(Step)
        case over
    }

    enum Effect: Equatable, Sendable {
        /// The peer has this Device Name.
        case learned(name: String)
        /// From now on, the peer indicates every change of its services.
        case watched
        /// The peer's Service Changed value has this handle.
        case foundServiceChanged(AttributeHandle)
        /// The peer indicates its Service Changed value from now on, even on later links if it is bonded.
        case watchesServiceChanged
        /// Verify the attributes, because a change before the subscription to Service Changed was not indicated.
        case verifyAttributes
        /// The services within these handles changed before changes were watched. The peer now has these services.
        case servicesChanged(in: ClosedRange<AttributeHandle>, now: [BluetoothUUID])
        /// The preparation is complete.
        case over
    }

    private var phase = Phase.unused
    /// The UUIDs of the peer's primary services, if known.
    private(set) var services: [BluetoothUUID]?
    /// The handles of the peer's Generic Attribute service, if known.
    private var genericAttribute: ClosedRange<AttributeHandle>?
    /// Whether no change of the peer's services can go unnoticed: either Service Changed is watched, or the peer has no
    /// such characteristic, in which case its services never change (Vol 3, Part G, 7.1).
    private(set) var isChangeWatched: Bool

    /// - Parameter isChangeWatched: whether Service Changed was watched on an earlier link. The server of a bonded peer
    ///   keeps the subscription between links.
    init(isChangeWatched: Bool) { self.isChangeWatched = isChangeWatched }

    // MARK: - Queries

    /// Whether a step starts once the link is idle.
    @inline(__always)
    var isWaiting: Bool { if case .waiting = phase { true } else { false } }

    var isOver: Bool { phase == .over }

    /// Whether a change of the peer's services may occur that is not indicated but can still be detected.
    var mayMissChange: Bool {
        switch phase {
        case .over: false
        case .waiting(.verification), .running(.verification): true
        case .unused, .waiting, .running: !isChangeWatched
        }
    }

    // MARK: - Events

    /// Starts the preparation, because the peer's server is being used.
    mutating func begin() { if phase == .unused { phase = .waiting(.services) } }

    /// Starts the waiting step, and returns its operation.
    mutating func nextOperation() -> GATTClientOperation? {
        guard case .waiting(let step) = phase else { return nil }
        phase = .running(step)
        switch step {
        case .services, .verification: return .discoverPrimaryServices()
        case .name: return .readByUUID(.deviceName)
        case .serviceChanged(let handles): return .discoverCharacteristics(in: handles, uuid: .serviceChanged)
        case .descriptor(let value, let end): return .discoverDescriptors(in: AttributeHandle(value.rawValue + 1)...end)
        case .configuration(let descriptor): return .configure(descriptor: descriptor, .indications)
        }
    }

    /// Handles the end of a step. Missing attributes and refusals are ignored.
    ///
    /// - Parameters:
    ///   - caching: the cache of the peer's attributes.
    ///   - isDiscovering: whether a discovery of services is in progress.
    mutating func stepped(
        _ result: Result<GATTClientResult, HostError>, _ caching: borrowing AttributeCaching, isDiscovering: Bool
    ) -> [Effect] {
        guard case .running(let step) = phase else { return [] }
        var effects: [Effect] = []
        switch (step, result) {
        // `learn` has recorded the result.
        case (.services, _): phase = .waiting(.name)
        case (.name, _):
            if case .success(.values(let values)) = result, let value = values.first?.value, !value.isEmpty {
                effects.append(.learned(name: String(decoding: value, as: UTF8.self)))
            }
            phase = genericAttribute.map { .waiting(.serviceChanged(in: $0)) } ?? .over
            if genericAttribute == nil, services != nil { effects += watch() }
        case (.serviceChanged, .success(.characteristics(let found))):
            if found.isEmpty { effects += watch() }
            // Without a handle for descriptors, the characteristic cannot be watched.
            let characteristic = found.first { $0.valueHandle < $0.endHandle }
            phase = characteristic.map { .waiting(.descriptor(of: $0.valueHandle, end: $0.endHandle)) } ?? .over
        case (.descriptor(let value, _), .success(.descriptors(let found))):
            let descriptor = found.first { $0.uuid == .clientCharacteristicConfiguration }
            effects.append(.foundServiceChanged(value))
            phase = descriptor.map { .waiting(.configuration($0.handle)) } ?? .over
        case (.configuration, .success):
            let wasWatched = isChangeWatched
            effects = [.watchesServiceChanged] + watch()
            let isMissed = !wasWatched && caching.mayHaveMissedChange(isDiscovering: isDiscovering)
            phase = isMissed ? .waiting(.verification) : .over
            if !wasWatched { effects.append(.verifyAttributes) }
        case (.verification, .success(.services(let found))):
            phase = .over
            if let handles = caching.changes(to: found) {
                effects.append(.servicesChanged(in: handles, now: found.map(\.uuid)))
            }
        case (.serviceChanged, _), (.descriptor, _), (.configuration, .failure), (.verification, _): phase = .over
        }
        return phase == .over ? effects + [.over] : effects
    }

    private mutating func watch() -> [Effect] {
        isChangeWatched = true
        return [.watched]
    }

    /// Records discovered services, including those that users discovered.
    ///
    /// - Returns: whether the services differ from those known before, if the preparation is complete.
    mutating func learn(_ result: GATTClientResult) -> Bool {
        let found: [DiscoveredService]
        switch result {
        case .services(let services): found = services
        case .database(let database): found = database.services
        default: return false
        }
        let uuids = found.map(\.uuid)
        let isNews = services != uuids
        services = uuids
        if let generic = found.first(where: { $0.uuid == .genericAttribute }) {
            genericAttribute = generic.startHandle...max(generic.startHandle, generic.endHandle)
        }
        if phase == .waiting(.services) { phase = .waiting(.name) }
        return isNews && isOver
    }

    /// Records a change of the peer's services.
    ///
    /// - Parameter services: the services that the peer has now; nil if they are not known.
    mutating func servicesChanged(to services: [BluetoothUUID]?) { self.services = services }
}

extension LinkPreparation {
    package enum PhaseName: String, CaseIterable, Sendable {
        case unused, services, name, serviceChanged, descriptor, configuration, verification, over
    }

    package enum EventName: String, CaseIterable, Sendable {
        /// `linkIdle` starts the waiting step.
        case used, linkIdle, answered, failed, servicesFound
    }

    package var phaseName: PhaseName {
        switch phase {
        case .unused: .unused
        case .waiting(.services), .running(.services): .services
        case .waiting(.name), .running(.name): .name
        case .waiting(.serviceChanged), .running(.serviceChanged): .serviceChanged
        case .waiting(.descriptor), .running(.descriptor): .descriptor
        case .waiting(.configuration), .running(.configuration): .configuration
        case .waiting(.verification), .running(.verification): .verification
        case .over: .over
        }
    }

    package static var transitions: [Transition<LinkPreparation>] {
        [
            Transition(.unused, .used, .services),
            Transition(.services, .linkIdle, .services), Transition(.name, .linkIdle, .name),
            Transition(.serviceChanged, .linkIdle, .serviceChanged), Transition(.descriptor, .linkIdle, .descriptor),
            Transition(.configuration, .linkIdle, .configuration), Transition(.verification, .linkIdle, .verification),
            Transition(.services, .answered, .name), Transition(.services, .failed, .name),
            Transition(.services, .servicesFound, .name),
            Transition(.name, .answered, .serviceChanged), Transition(.name, .failed, .serviceChanged),
            Transition(.name, .answered, .over), Transition(.name, .failed, .over),
            Transition(.serviceChanged, .answered, .descriptor), Transition(.serviceChanged, .answered, .over),
            Transition(.serviceChanged, .failed, .over),
            Transition(.descriptor, .answered, .configuration), Transition(.descriptor, .answered, .over),
            Transition(.descriptor, .failed, .over),
            Transition(.configuration, .answered, .over), Transition(.configuration, .answered, .verification),
            Transition(.configuration, .failed, .over),
            Transition(.verification, .answered, .over), Transition(.verification, .failed, .over),
            Transition(.over, .servicesFound, .over),
        ]
    }
}
