import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Passes operations and responses to each link's `AttributeCaching`, and carries out its effects.
extension SharedHost {
    func cachingContext(_ slot: LinkSlot) -> AttributeCaching.Context {
        AttributeCaching.Context(links[slot.index].preparation)
    }

    /// Delays an operation if it, or an operation before it, depends on the Database Hash. Returns whether it waits.
    mutating func waitsForHash(_ request: OperationScheduler.Operation, _ slot: LinkSlot, at now: Instant) -> Bool {
        let isFirst = links[slot.index].caching.dependsOnTrust(request.operation)
        let trust = isFirst ? host.attributeTrust(on: links[slot.index].identifier) : .unproven
        let admission = links[slot.index].caching.admit(request.operation, request.purpose, trust)
        guard admission != .goesOn else { return false }
        hold(request, for: .databaseHash, slot, at: now)
        if admission == .waitsForReading { perform([.readHash], slot, at: now) }
        return true
    }

    /// Handles the peer's response about its Database Hash.
    mutating func hashRead(_ result: Result<GATTClientResult, HostError>, _ slot: LinkSlot, at now: Instant) {
        let context = cachingContext(slot), kept = keptAttributes(slot)
        perform(links[slot.index].caching.hashRead(result, context, kept: kept), slot, at: now)
    }

    /// The attributes of a link's peer that were kept from earlier links.
    private func keptAttributes(_ slot: LinkSlot) -> DiscoveredAttributes? {
        switch host.attributeTrust(on: links[slot.index].identifier) {
        case .unproven: nil
        case .unbonded: attributes.find(host.lastingPeer(of: links[slot.index].peer))
        case .bonded(let kept): kept
        }
    }

    /// Adds the result of an operation to the cache.
    mutating func learnAttributes(
        from result: GATTClientResult, of operation: PendingOperation, _ slot: LinkSlot, at now: Instant
    ) {
        perform(links[slot.index].caching.learn(result, of: operation, cachingContext(slot)), slot, at: now)
    }

    /// Carries out the effects of a link's cache.
    mutating func perform(_ effects: [AttributeCaching.Effect], _ slot: LinkSlot, at now: Instant) {
        for effect in effects {
            switch effect {
            case .readHash: start(.readByUUID(.databaseHash), for: .databaseHash, slot, at: now)
            case .keep(let attributes): host.keepAttributes(attributes, of: links[slot.index].identifier)
            case .forget:
                host.dropAttributes(of: links[slot.index].identifier)
                attributes.remove(host.lastingPeer(of: links[slot.index].peer))
            case .everythingChanged: servicesHaveChanged(in: 0x0001...0xFFFF, slot, at: now)
            case .resume:
                for waiting in links[slot.index].scheduler.takeWaitingForHash() { start(waiting, slot, at: now) }
            }
        }
    }

    /// Drops what is cached for a peer at a user's request, including on the current link.
    mutating func forgetAttributes(of peer: PeerID, at now: Instant) {
        let peer = host.lastingPeer(of: peer)
        for slot in slots where links[slot.index].isInUse && host.lastingPeer(of: links[slot.index].peer) == peer {
            perform(links[slot.index].caching.drop(), slot, at: now)
        }
        attributes.remove(peer)
        host.dropAttributes(of: peer)
    }

    /// Keeps the attributes of a peer with a Database Hash when a link ends. For a bonded peer, the bond keeps them.
    mutating func keepAttributes(of record: LinkRecord) {
        let peer = host.lastingPeer(of: record.peer)
        guard let lasting = record.caching.lasting, !host.isBonded(peer) else { return }
        attributes.keep(lasting, of: peer)
    }
}

extension GATTClientOperation {
    /// Whether the operation can be answered from the cache.
    var isDiscovery: Bool {
        switch self {
        case .discoverPrimaryServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors,
            .discoverAll:
            true
        default: false
        }
    }

    /// An operation that returns the same attributes as this one, and any others that take no additional request.
    var whole: GATTClientOperation {
        if case .discoverCharacteristics(let handles, _) = self { .discoverCharacteristics(in: handles) } else { self }
    }
}

extension GATTClientResult {
    /// The part of the result of `operation.whole` that `operation` requested.
    func narrowed(to operation: GATTClientOperation) -> GATTClientResult {
        guard case .discoverCharacteristics(_, let uuid?) = operation, case .characteristics(let found) = self
        else { return self }
        return .characteristics(found.filter { $0.uuid == uuid })
    }
}

/// The attributes of the most recently used peers that have a Database Hash but no bond.
struct PeerAttributes: Sendable {
    /// In order of use, most recent last.
    private var entries: [(peer: PeerID, attributes: DiscoveredAttributes)] = []

    /// The maximum number of peers.
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
