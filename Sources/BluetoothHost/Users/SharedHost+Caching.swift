import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// What is known of the server of a link's peer, from this link and earlier ones (Core 5.4, Vol 3, Part G, 2.5.2).
struct LinkCaching: Sendable {
    enum State: Sendable {
        /// Nobody has asked yet whether what is known from earlier links still holds.
        case open
        /// The Database Hash is being read.
        case reading
        case settled
    }

    var state = State.open
    /// The Database Hash of the peer when it was read; nil where it has none.
    var hash: UInt128?
    /// Whether what is found may be kept for other links: not where the peer would not say whether it has a hash.
    var mayKeep = true
    /// Whether something was found while a change of the peer's services would have been missed: it may belong to another hash.
    var isUnverified = false
    /// What earlier links have found and still holds: it answers for the peer.
    var known = AttributeCache()
    /// That, and what was found on this link. It does not answer on this link: who asks again may know of a change that the
    /// peer has not told yet.
    var found = AttributeCache()
    /// As much of that as belongs to the hash: what the next link begins with.
    var verified = AttributeCache()
    /// How often everything was dropped. What was asked for before that is not learned from.
    var dropCount: UInt32 = 0
    /// Operations that wait for the Database Hash: those that it may answer, and others behind them.
    var waiting: [RefusedOperation] = []
}

/// Discovery is answered from what is known of a peer. With a Database Hash that is what was found while the server had the
/// same hash; without one, what was found of a bonded peer, which tells of changes on the next link. Peers with neither are
/// discovered anew on each link.
extension SharedHost {
    /// Has an operation wait where the Database Hash decides about it, or about one before it. The first discovery on a link
    /// reads the hash.
    mutating func waitsForHash(
        _ operation: GATTClientOperation, _ purpose: PendingOperation.Purpose, _ slot: Int, _ beginnings: UInt8,
        at now: Instant
    ) -> Bool {
        switch links[slot].caching.state {
        case .settled where isDueToVerify(operation, purpose, slot): verifyHash(slot, at: now)
        case .settled: return false
        case .reading where purpose == .databaseHash: return false
        case .reading: break
        case .open:
            guard operation.isDiscovery, beginCaching(slot) else { return false }
        }
        guard links[slot].caching.waiting.count < Self.refusedOperationLimit else {
            failed(purpose, slot, .client(.tooManyOperations), at: now)
            return true
        }
        links[slot].caching.waiting.append(
            RefusedOperation(operation: operation, purpose: purpose, error: .cancelled, beginnings: beginnings))
        guard links[slot].caching.state == .open else { return true }
        links[slot].caching.state = .reading
        // Over all handles, as 7.3 has it: the hash itself may have moved.
        start(.readByUUID(.databaseHash), for: .databaseHash, slot, at: now)
        return true
    }

    /// Finds out whether the hash has to be read.
    private mutating func beginCaching(_ slot: Int) -> Bool {
        switch host.attributeTrust(on: links[slot].identifier) {
        // What it says is not kept, and what is known of the bonded peer does not hold for it.
        case .unproven: return false
        case .bonded(let kept?) where kept.hash == nil:
            takeUp(kept.cache, slot)
            links[slot].caching.state = .settled
            return false
        case .bonded, .unbonded: return true
        }
    }

    /// The peer has answered what its Database Hash is.
    mutating func hashRead(_ result: Result<GATTClientResult, HostError>, _ slot: Int, at now: Instant) {
        let earlier = links[slot].caching.isUnverified ? links[slot].caching.hash : nil
        links[slot].caching.state = .settled
        links[slot].caching.isUnverified = false
        switch result {
        // Of several, which there must not be, none can be believed.
        case .success(.values(let values)) where values.count == 1 && values.first?.value.count == 16:
            links[slot].caching.hash = values.first?.value.reversed().reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        case .failure(.client(.att(let refusal))) where refusal.code == .attributeNotFound:
            links[slot].caching.hash = nil
        default: links[slot].caching.mayKeep = false
        }
        if let earlier {
            let holds = links[slot].caching.mayKeep && links[slot].caching.hash == earlier
            if holds { useFound(slot) } else { forgetFound(slot) }
        } else if links[slot].caching.mayKeep {
            compareHash(slot)
        }
        let waiting = links[slot].caching.waiting
        links[slot].caching.waiting = []
        for operation in waiting {
            start(operation.operation, for: operation.purpose, slot, at: now, beginnings: operation.beginnings)
        }
    }

    /// Whether somebody is about to use what has been found, which may end with the link before changes are watched.
    private func isDueToVerify(
        _ operation: GATTClientOperation, _ purpose: PendingOperation.Purpose, _ slot: Int
    ) -> Bool {
        switch purpose {
        case .call, .subscription: links[slot].caching.isUnverified && !operation.isDiscovery
        case .readiness, .preparation, .databaseHash: false
        }
    }

    /// Reads the hash again before what was found is used, and once changes are watched: it may be of a database that its
    /// application has changed since the hash was read. What is not verified by the end of a link is not kept.
    mutating func verifyHash(_ slot: Int, at now: Instant) {
        guard links[slot].caching.state == .settled, links[slot].caching.isUnverified else { return }
        links[slot].caching.state = .reading
        start(.readByUUID(.databaseHash), for: .databaseHash, slot, at: now)
    }

    private mutating func compareHash(_ slot: Int) {
        let kept: DiscoveredAttributes? =
            switch host.attributeTrust(on: links[slot].identifier) {
            case .unproven: nil
            case .unbonded: attributes.find(host.lastingName(of: links[slot].peer))
            case .bonded(let kept): kept
            }
        guard let kept else { return }
        guard let hash = links[slot].caching.hash, kept.hash == hash else { return forgetAttributes(slot) }
        takeUp(kept.cache, slot)
    }

    private mutating func takeUp(_ cache: AttributeCache, _ slot: Int) {
        links[slot].caching.known = cache
        links[slot].caching.found = cache
        links[slot].caching.verified = cache
    }

    /// Takes in what an operation has found.
    mutating func learnAttributes(from result: GATTClientResult, of operation: PendingOperation, _ slot: Int) {
        // Also while the hash is read again: what that says holds for what was found before it.
        guard operation.operation.isDiscovery, links[slot].caching.state != .open, links[slot].caching.mayKeep,
            operation.dropCount == links[slot].caching.dropCount
        else { return }
        links[slot].caching.found.learn(result, of: operation.operation.whole)
        if links[slot].caching.hash != nil, !links[slot].preparation.isChangeWatched,
            links[slot].preparation.step != .done
        {
            links[slot].caching.isUnverified = true
        }
        useFound(slot)
    }

    /// No change of the peer's services will be missed from now on.
    mutating func changesAreWatched(_ slot: Int) {
        links[slot].preparation.isChangeWatched = true
        useFound(slot)
    }

    private mutating func useFound(_ slot: Int) {
        guard links[slot].caching.state == .settled, links[slot].caching.mayKeep, !links[slot].caching.isUnverified
        else { return }
        let found = links[slot].caching.found, hash = links[slot].caching.hash
        guard hash != nil || links[slot].preparation.isChangeWatched else { return }
        links[slot].caching.verified = found
        host.keepAttributes(DiscoveredAttributes(cache: found, hash: hash), of: links[slot].identifier)
    }

    /// The peer's services have changed: whatever is known of them is given up, and the hash is read again before the next
    /// discovery.
    mutating func dropAttributes(_ slot: Int) {
        forgetFound(slot)
        links[slot].caching.hash = nil
        links[slot].caching.mayKeep = true
        links[slot].caching.isUnverified = false
        if links[slot].caching.state == .settled { links[slot].caching.state = .open }
    }

    /// Somebody who knows better: what is known of a peer is given up, on its link as well.
    mutating func forgetAttributes(of peer: PeerID) {
        let peer = host.lastingName(of: peer)
        for slot in links.indices where links[slot].isInUse && host.lastingName(of: links[slot].peer) == peer {
            dropAttributes(slot)
        }
        attributes.remove(peer)
        host.dropAttributes(of: peer)
    }

    private mutating func forgetFound(_ slot: Int) {
        links[slot].caching.dropCount &+= 1
        takeUp(AttributeCache(), slot)
        forgetAttributes(slot)
    }

    private mutating func forgetAttributes(_ slot: Int) {
        host.dropAttributes(of: links[slot].identifier)
        attributes.remove(host.lastingName(of: links[slot].peer))
    }

    /// A link has ended: what was found of a peer with a hash is kept. With a bond, the bond keeps it.
    mutating func keepAttributes(of record: LinkRecord) {
        let peer = host.lastingName(of: record.peer)
        guard let hash = record.caching.hash, record.caching.mayKeep, !record.caching.verified.isEmpty,
            !host.isBonded(peer)
        else { return }
        attributes.keep(DiscoveredAttributes(cache: record.caching.verified, hash: hash), of: peer)
    }
}

extension PendingOperation.Purpose {
    func isCall(of user: UserID) -> Bool {
        if case .call(let call) = self { call.user == user } else { false }
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
