import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// What is known of peers' servers: operations and answers go to the link's `AttributeCaching`, whose effects are carried out here.
extension SharedHost {
    func cachingContext(_ slot: LinkSlot) -> AttributeCaching.Context {
        AttributeCaching.Context(links[slot.index].preparation)
    }

    /// Has an operation wait where the Database Hash decides about it, or about one before it.
    mutating func waitsForHash(_ request: OperationScheduler.Operation, _ slot: LinkSlot, at now: Instant) -> Bool {
        let isFirst = links[slot.index].caching.dependsOnTrust(request.operation)
        let trust = isFirst ? host.attributeTrust(on: links[slot.index].identifier) : .unproven
        let admission = links[slot.index].caching.admit(request.operation, request.purpose, trust)
        guard admission != .goesOn else { return false }
        hold(request, for: .databaseHash, slot, at: now)
        if admission == .waitsForReading { perform([.readHash], slot, at: now) }
        return true
    }

    /// The peer has answered about its Database Hash.
    mutating func hashRead(_ result: Result<GATTClientResult, HostError>, _ slot: LinkSlot, at now: Instant) {
        let context = cachingContext(slot), kept = keptAttributes(slot)
        perform(links[slot.index].caching.hashRead(result, context, kept: kept), slot, at: now)
    }

    /// What earlier links have found of a link's peer.
    private func keptAttributes(_ slot: LinkSlot) -> DiscoveredAttributes? {
        switch host.attributeTrust(on: links[slot.index].identifier) {
        case .unproven: nil
        case .unbonded: attributes.find(host.lastingName(of: links[slot.index].peer))
        case .bonded(let kept): kept
        }
    }

    /// Takes in what an operation has found.
    mutating func learnAttributes(
        from result: GATTClientResult, of operation: PendingOperation, _ slot: LinkSlot, at now: Instant
    ) {
        perform(links[slot.index].caching.learn(result, of: operation, cachingContext(slot)), slot, at: now)
    }

    /// Carries out what a link's cache asks for.
    mutating func perform(_ effects: [AttributeCaching.Effect], _ slot: LinkSlot, at now: Instant) {
        for effect in effects {
            switch effect {
            case .readHash: start(.readByUUID(.databaseHash), for: .databaseHash, slot, at: now)
            case .keep(let attributes): host.keepAttributes(attributes, of: links[slot.index].identifier)
            case .forget:
                host.dropAttributes(of: links[slot.index].identifier)
                attributes.remove(host.lastingName(of: links[slot.index].peer))
            case .everythingChanged: servicesHaveChanged(in: 0x0001...0xFFFF, slot, at: now)
            case .resume:
                for waiting in links[slot.index].scheduler.takeWaitingForHash() { start(waiting, slot, at: now) }
            }
        }
    }

    /// A caller knows better: what is known of a peer is dropped, on its link as well.
    mutating func forgetAttributes(of peer: PeerID, at now: Instant) {
        let peer = host.lastingName(of: peer)
        for slot in slots where links[slot.index].isInUse && host.lastingName(of: links[slot.index].peer) == peer {
            perform(links[slot.index].caching.drop(), slot, at: now)
        }
        attributes.remove(peer)
        host.dropAttributes(of: peer)
    }

    /// A link has ended: what was found of a peer with a hash is kept. With a bond, the bond keeps it.
    mutating func keepAttributes(of record: LinkRecord) {
        let peer = host.lastingName(of: record.peer)
        guard let lasting = record.caching.lasting, !host.isBonded(peer) else { return }
        attributes.keep(lasting, of: peer)
    }
}

extension GATTClientOperation {
    /// Whether what is known of a server may answer it.
    var isDiscovery: Bool {
        switch self {
        case .discoverPrimaryServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors,
            .discoverAll:
            true
        default: false
        }
    }

    /// The operation that finds what this one does, and all that takes no further request.
    var whole: GATTClientOperation {
        if case .discoverCharacteristics(let handles, _) = self { .discoverCharacteristics(in: handles) } else { self }
    }
}

extension GATTClientResult {
    /// What `operation` asked for, of what `operation.whole` has found.
    func narrowed(to operation: GATTClientOperation) -> GATTClientResult {
        guard case .discoverCharacteristics(_, let uuid?) = operation, case .characteristics(let found) = self
        else { return self }
        return .characteristics(found.filter { $0.uuid == uuid })
    }
}

/// What was discovered of peers without a bond, that have a Database Hash: of those used last.
struct PeerAttributes: Sendable {
    /// In the order of their use, the latest last.
    private var entries: [(peer: PeerID, attributes: DiscoveredAttributes)] = []

    /// How many peers are remembered.
    static let capacity = 64

    var count: Int { entries.count }

    func find(_ peer: PeerID) -> DiscoveredAttributes? { entries.first { $0.peer == peer }?.attributes }

    mutating func keep(_ attributes: DiscoveredAttributes, of peer: PeerID) {
        remove(peer)
        if entries.count == Self.capacity { entries.removeFirst() }
        entries.append((peer, attributes))
    }

    mutating func remove(_ peer: PeerID) { entries.removeAll { $0.peer == peer } }
}
