import BluetoothATT
import BluetoothGATT
import BluetoothHost

/// What is known of the server of a link's peer, from this link and earlier ones (Core 5.4, Vol 3, Part G, 2.5.2).
///
/// Discovery is answered from that. With a Database Hash it is what was found while the server had the same hash; without one, what
/// was found of a bonded peer, which indicates changes on the next link. Peers with neither are discovered again on each link.
struct AttributeCaching: StateMachine {
    /// What the peer has answered about its Database Hash.
    enum Answer: Hashable, Sendable {
        /// It has none.
        case none
        case hash(UInt128)
        /// It refused to answer once, so nothing that is found on this link is kept for others. The last hash that it has named.
        case refused(last: UInt128?)

        fileprivate var hash: UInt128? {
            switch self {
            case .none: nil
            case .hash(let hash): hash
            case .refused(let last): last
            }
        }

        fileprivate var mayKeep: Bool { if case .refused = self { false } else { true } }
    }

    private enum Phase: Hashable, Sendable {
        /// Nobody has asked yet whether what is known from earlier links still holds.
        case unasked
        /// The Database Hash is being read, to be compared with that of earlier links.
        case reading
        case settled(Answer)
        /// Something was found while a change of the peer's services would have been missed: it may belong to another hash.
        case unverified(UInt128)
        /// The hash is being read again, to be compared with this one from earlier on this link.
        case verifying(Answer)
    }

    /// An operation that is about to begin.
    enum Admission: Equatable, Sendable {
        case goesOn
        /// It waits for the Database Hash.
        case waits
        /// It waits for the Database Hash, which has to be read.
        case waitsForReading
    }

    /// What the cache has to know of the rest of the link.
    struct Context: Sendable {
        /// Whether every change of the peer's services is indicated.
        fileprivate let isChangeWatched: Bool
        /// Whether a change may come that is not indicated, and may still be found out.
        fileprivate let mayMissChange: Bool
        /// Whether the link's preparation is over.
        fileprivate let isPrepared: Bool

        init(_ preparation: LinkPreparation) {
            isChangeWatched = preparation.isChangeWatched
            mayMissChange = preparation.mayMissChange
            isPrepared = preparation.isOver
        }
    }

    enum Effect: Equatable, Sendable {
        /// Reads the Database Hash, over all handles, as Part G, 7.3 has it: the hash itself may have moved.
        case readHash
        /// Keeps this for the peer's next link.
        case keep(DiscoveredAttributes)
        /// What was kept of the peer does not hold.
        case forget
        /// Nobody can tell what has changed.
        case everythingChanged
        /// The operations that waited for the hash go on.
        case resume
    }

    private var phase = Phase.unasked
    /// The services that users have found while a change would have been missed.
    private var told = ToldServices()
    /// What earlier links have found and still holds: it answers for the peer.
    private var known = AttributeCache()
    /// That, and what was found on this link. It does not answer on this link: a user that asks again may know of a change that the
    /// peer has not indicated yet.
    private var found = AttributeCache()
    /// As much of that as belongs to the hash: what the next link begins with.
    private var verified = AttributeCache()
    /// How often everything was dropped. Results of operations that began before that are not learned.
    private(set) var dropCount: UInt32 = 0

    // MARK: - Questions

    /// What earlier links have found; nil if the peer has to be asked.
    func answer(to operation: GATTClientOperation) -> GATTClientResult? { known.result(of: operation) }

    /// What was found and may be kept when the link ends, for a peer without a bond.
    var lasting: DiscoveredAttributes? {
        guard let answer, answer.mayKeep, let hash = answer.hash, !verified.isEmpty else { return nil }
        return DiscoveredAttributes(cache: verified, hash: hash)
    }

    /// The handles of services that are not what users have found; nil where all are.
    func changes(to services: [DiscoveredService]) -> ClosedRange<AttributeHandle>? { told.changes(to: services) }

    /// Whether users have found services of a peer without a hash, which no hash shows to have changed.
    ///
    /// - Parameter isDiscovering: whether users are about to find some.
    func mayHaveMissedChange(isDiscovering: Bool) -> Bool {
        switch phase {
        case .reading, .verifying: return false
        case .unasked: break
        case .settled(let answer): if answer.hash != nil { return false }
        case .unverified: return false
        }
        return !told.isEmpty || isDiscovering
    }

    /// The answer that holds, or held when the hash began to be read again; nil before the first one.
    private var answer: Answer? {
        switch phase {
        case .unasked, .reading: nil
        case .settled(let answer), .verifying(let answer): answer
        case .unverified(let hash): .hash(hash)
        }
    }

    // MARK: - Operations

    /// Whether `admit` depends on the trust in the peer: for the first discovery.
    @inline(__always)
    func dependsOnTrust(_ operation: GATTClientOperation) -> Bool { phase == .unasked && operation.isDiscovery }

    /// Has an operation wait where the Database Hash decides about it, or about one before it. The first discovery on a link
    /// reads the hash.
    ///
    /// - Parameter trust: whether the peer has a bond and has proven it. It matters where `dependsOnTrust` says so.
    mutating func admit(
        _ operation: GATTClientOperation, _ purpose: PendingOperation.Purpose, _ trust: Host.AttributeTrust
    ) -> Admission {
        switch phase {
        case .settled: return .goesOn
        // It is about to be used, and may end with the link before changes are watched.
        case .unverified(let hash):
            guard purpose.isOfUser, !operation.isDiscovery else { return .goesOn }
            phase = .verifying(.hash(hash))
            return .waitsForReading
        case .reading, .verifying: return purpose == .databaseHash ? .goesOn : .waits
        case .unasked:
            guard operation.isDiscovery else { return .goesOn }
            switch trust {
            // What it says is not kept, and what is known of the bonded peer does not hold for it.
            case .unproven: return .goesOn
            case .bonded(let kept?) where kept.hash == nil:
                takeUp(kept.cache)
                phase = .settled(.none)
                return .goesOn
            case .bonded, .unbonded:
                phase = .reading
                return .waitsForReading
            }
        }
    }

    /// The peer has answered about its Database Hash.
    ///
    /// - Parameter kept: what earlier links have found of the peer.
    mutating func hashRead(
        _ result: Result<GATTClientResult, HostError>, _ context: Context, kept: DiscoveredAttributes?
    ) -> [Effect] {
        let earlier: Answer?
        switch phase {
        case .reading: earlier = nil
        case .verifying(let answer): earlier = answer
        // Nobody has asked.
        case .unasked, .settled, .unverified: return []
        }
        let answer = Answer(result, after: earlier)
        phase = .settled(answer)
        guard let earlier else {
            guard answer.mayKeep, let kept else { return [.resume] }
            guard let hash = answer.hash, kept.hash == hash else { return [.forget, .resume] }
            takeUp(kept.cache)
            return [.resume]
        }
        if !answer.mayKeep {
            forgetFound()
            return [.forget, .resume]
        }
        return (answer.hash == earlier.hash ? useFound(context) : [.everythingChanged]) + [.resume]
    }

    /// Takes in what an operation has found.
    mutating func learn(
        _ result: GATTClientResult, of operation: PendingOperation, _ context: Context
    ) -> [Effect] {
        if case .call = operation.purpose, context.mayMissChange { told.add(result, of: operation.operation) }
        guard operation.operation.isDiscovery, operation.dropCount == dropCount else { return [] }
        switch phase {
        case .unasked, .settled(.refused), .verifying(.refused): return []
        // Also while the hash is read again: the answer holds for what was found before it.
        case .reading, .settled, .unverified, .verifying: break
        }
        found.learn(result, of: operation.operation.whole)
        if case .settled(.hash(let hash)) = phase, !context.isChangeWatched, !context.isPrepared {
            phase = .unverified(hash)
        }
        return useFound(context)
    }

    // MARK: - Changes

    /// Reads the hash again before what was found is used, once the link is prepared: it may be of a database that its application
    /// has changed since the hash was read. What is not verified by the end of a link is not kept.
    mutating func verify() -> [Effect] {
        guard case .unverified(let hash) = phase else { return [] }
        phase = .verifying(.hash(hash))
        return [.readHash]
    }

    /// From now on changes are indicated. Reads the hash again, if the peer has one, since a change that came before has not been:
    /// also if only attributes from earlier links were used.
    mutating func verifyAfterSubscribing() -> [Effect] {
        switch phase {
        case .unasked, .reading, .verifying: return []
        case .unverified(let hash): phase = .verifying(.hash(hash))
        case .settled(let answer):
            guard answer.hash != nil else { return [] }
            phase = .verifying(answer)
        }
        return [.readHash]
    }

    /// The peer's services have changed: everything known of them is dropped, and the hash is read again before the next discovery.
    mutating func drop() -> [Effect] {
        forgetFound()
        told = ToldServices()
        switch phase {
        case .settled, .unverified: phase = .unasked
        // The earlier hash no longer matters.
        case .verifying: phase = .reading
        case .unasked, .reading: break
        }
        return [.forget]
    }

    private mutating func forgetFound() {
        dropCount &+= 1
        takeUp(AttributeCache())
    }

    private mutating func takeUp(_ cache: AttributeCache) { (known, found, verified) = (cache, cache, cache) }

    /// Every change is indicated from now on, or the hash has been read. What was found may be kept where it belongs to the hash, or where every change is indicated.
    mutating func useFound(_ context: Context) -> [Effect] {
        guard case .settled(let answer) = phase, answer.mayKeep, answer.hash != nil || context.isChangeWatched else {
            return []
        }
        verified = found
        return [.keep(DiscoveredAttributes(cache: found, hash: answer.hash))]
    }
}

extension AttributeCaching.Answer {
    /// - Parameter earlier: the answer before, on the same link.
    fileprivate init(_ result: Result<GATTClientResult, HostError>, after earlier: Self?) {
        let hasRefused = earlier?.mayKeep == false
        switch result {
        // Of several, which there must not be, none can be believed.
        case .success(.values(let values)) where values.count == 1 && values.first?.value.count == 16:
            let hash = values[0].value.reversed().reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
            self = hasRefused ? .refused(last: hash) : .hash(hash)
        case .failure(.client(.att(let refusal))) where refusal.code == .attributeNotFound:
            self = hasRefused ? .refused(last: nil) : .none
        default: self = .refused(last: earlier?.hash)
        }
    }
}

extension PendingOperation.Purpose {
    /// Whether a user waits for it.
    fileprivate var isOfUser: Bool {
        switch self {
        case .call, .subscription: true
        case .readiness, .preparation, .databaseHash: false
        }
    }
}

extension AttributeCaching {
    package var phaseName: PhaseName {
        switch phase {
        case .unasked: .unasked
        case .reading: .reading
        case .settled: .settled
        case .unverified: .unverified
        case .verifying: .verifying
        }
    }
}
