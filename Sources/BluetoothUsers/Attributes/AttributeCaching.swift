import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The attribute cache of a link's peer (Core 5.4, Vol 3, Part G, 2.5.2).
///
/// The cache answers discoveries with attributes found on earlier links, and keeps those found on this link for the
/// next one. If the peer has a Database Hash, cached attributes are valid while the server has the same hash. Without a
/// hash, they are valid for a bonded peer, which indicates changes on the next link. A peer with neither is discovered
/// again on each link.
struct AttributeCaching: StateMachine {
    /// The result of reading the peer's Database Hash.
    enum Answer: Hashable, Sendable {
        /// The peer has no Database Hash.
        case none
        case hash(UInt128)
        /// The peer failed to report its hash at least once on this link, so nothing found on this link is kept for
        /// later links. The associated value is the last hash that it reported.
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
        /// The cache has not been checked on this link yet.
        case unasked
        /// The Database Hash is being read and will be compared with the one from earlier links.
        case reading
        case settled(Answer)
        /// Attributes were found while a change of the peer's services could have gone unnoticed. They may belong to a
        /// different hash.
        case unverified(UInt128)
        /// The hash is being read again and will be compared with this earlier one from the same link.
        case verifying(Answer)
    }

    /// Whether an operation may start.
    enum Admission: Equatable, Sendable {
        case goesOn
        /// The operation waits for the Database Hash.
        case waits
        /// The operation waits for the Database Hash, which must be read now.
        case waitsForReading
    }

    /// The state of the link that the cache depends on.
    struct Context: Sendable {
        /// Whether the peer indicates every change of its services.
        fileprivate let isChangeWatched: Bool
        /// Whether a change may occur that is not indicated but can still be detected.
        fileprivate let mayMissChange: Bool
        /// Whether the link's preparation is complete.
        fileprivate let isPrepared: Bool

        init(_ preparation: LinkPreparation) {
            isChangeWatched = preparation.isChangeWatched
            mayMissChange = preparation.mayMissChange
            isPrepared = preparation.isOver
        }
    }

    enum Effect: Equatable, Sendable {
        /// Read the Database Hash over all handles (Part G, 7.3), because its own handle may have changed.
        case readHash
        /// Keep these attributes for the peer's next link.
        case keep(DiscoveredAttributes)
        /// The attributes kept from earlier links are no longer valid.
        case forget
        /// The hash has changed, so any service may have changed.
        case everythingChanged
        /// Resume the operations that waited for the hash.
        case resume
    }

    private var phase = Phase.unasked
    /// The services that users found while a change could have gone unnoticed.
    private var told = ToldServices()
    /// Valid attributes from earlier links. Discoveries are answered from these.
    private var known = AttributeCache()
    /// The known attributes, together with those found on this link. Discoveries on this link are not answered from
    /// these: a user that discovers again may know about a change that the peer has not indicated yet.
    private var found = AttributeCache()
    /// The part of `found` that belongs to the hash. The next link starts with it.
    private var verified = AttributeCache()
    /// How often the cache was dropped. Results of operations that started before the last drop are not added.
    private(set) var dropCount: UInt32 = 0

    // MARK: - Queries

    /// The cached result of an operation; nil if the peer must be asked.
    func answer(to operation: GATTClientOperation) -> GATTClientResult? { known.result(of: operation) }

    /// The attributes to keep when the link ends, for a peer without a bond.
    var lasting: DiscoveredAttributes? {
        guard let answer, answer.mayKeep, let hash = answer.hash, !verified.isEmpty else { return nil }
        return DiscoveredAttributes(cache: verified, hash: hash)
    }

    /// The handles of services that differ from those that users have found; nil if none differ.
    func changes(to services: [DiscoveredService]) -> ClosedRange<AttributeHandle>? { told.changes(to: services) }

    /// Whether users may have missed a service change of a peer that has no hash to reveal it.
    ///
    /// - Parameter isDiscovering: whether a discovery of services is in progress.
    func mayHaveMissedChange(isDiscovering: Bool) -> Bool {
        switch phase {
        case .reading, .verifying: return false
        case .unasked: break
        case .settled(let answer): if answer.hash != nil { return false }
        case .unverified: return false
        }
        return !told.isEmpty || isDiscovering
    }

    /// The current response, or, while the hash is being read again, the previous one; nil before the first response.
    private var answer: Answer? {
        switch phase {
        case .unasked, .reading: nil
        case .settled(let answer), .verifying(let answer): answer
        case .unverified(let hash): .hash(hash)
        }
    }

    // MARK: - Operations

    /// Whether `admit` may delay an operation. Checked first, because nearly all operations are not delayed.
    @inline(__always)
    func mayDelay(_ operation: GATTClientOperation) -> Bool {
        switch phase {
        case .settled: false
        case .unasked: operation.isDiscovery
        case .reading, .unverified, .verifying: true
        }
    }

    /// Whether `admit` depends on trust in the peer, which is the case for the first discovery.
    @inline(__always)
    func dependsOnTrust(_ operation: GATTClientOperation) -> Bool { phase == .unasked && operation.isDiscovery }

    /// Delays an operation if it, or an operation before it, depends on the Database Hash. The first discovery on a
    /// link reads the hash.
    ///
    /// - Parameter trust: whether the peer has a bond and has proven it. Only relevant if `dependsOnTrust` is true.
    mutating func admit(
        _ operation: GATTClientOperation, _ purpose: PendingOperation.Purpose, _ trust: Host.AttributeTrust
    ) -> Admission {
        switch phase {
        case .settled: return .goesOn
        // The attributes are about to be used, so verify them now: the link may end before changes are watched.
        case .unverified(let hash):
            guard purpose.isOfUser, !operation.isDiscovery else { return .goesOn }
            phase = .verifying(.hash(hash))
            return .waitsForReading
        case .reading, .verifying: return purpose == .databaseHash ? .goesOn : .waits
        case .unasked:
            guard operation.isDiscovery else { return .goesOn }
            switch trust {
            // Nothing found on this peer is kept, and attributes cached for the bonded peer do not apply to it.
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

    /// Handles the peer's response about its Database Hash.
    ///
    /// - Parameter kept: the attributes of the peer that were kept from earlier links.
    mutating func hashRead(
        _ result: Result<GATTClientResult, HostError>, _ context: Context, kept: DiscoveredAttributes?
    ) -> [Effect] {
        let earlier: Answer?
        switch phase {
        case .reading: earlier = nil
        case .verifying(let answer): earlier = answer
        // The hash was not requested.
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

    /// Adds the result of an operation to the cache.
    mutating func learn(
        _ result: GATTClientResult, of operation: PendingOperation, _ context: Context
    ) -> [Effect] {
        if case .call = operation.purpose, context.mayMissChange { told.add(result, of: operation.operation) }
        guard operation.operation.isDiscovery, operation.dropCount == dropCount else { return [] }
        switch phase {
        case .unasked, .settled(.refused), .verifying(.refused): return []
        // Also while the hash is being read: the response covers what was found before it.
        case .reading, .settled, .unverified, .verifying: break
        }
        found.learn(result, of: operation.operation.whole)
        if case .settled(.hash(let hash)) = phase, !context.isChangeWatched, !context.isPrepared {
            phase = .unverified(hash)
        }
        return useFound(context)
    }

    // MARK: - Changes

    /// Once the link is prepared, reads the hash again before the found attributes are used. The peer's application may
    /// have changed the database since the hash was read. Attributes that are unverified when the link ends are not
    /// kept.
    mutating func verify() -> [Effect] {
        guard case .unverified(let hash) = phase else { return [] }
        phase = .verifying(.hash(hash))
        return [.readHash]
    }

    /// Reads the hash again, if the peer has one, because changes are indicated only from now on, and an earlier change
    /// was not indicated. This applies even if only attributes from earlier links were used.
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

    /// Drops the whole cache, because the peer's services have changed. The hash is read again before the next
    /// discovery.
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

    /// Keeps the found attributes if they belong to the hash, or if the peer indicates every change.
    mutating func useFound(_ context: Context) -> [Effect] {
        guard case .settled(let answer) = phase, answer.mayKeep, answer.hash != nil || context.isChangeWatched else {
            return []
        }
        verified = found
        return [.keep(DiscoveredAttributes(cache: found, hash: answer.hash))]
    }
}

extension AttributeCaching.Answer {
    /// - Parameter earlier: the previous response on the same link.
    fileprivate init(_ result: Result<GATTClientResult, HostError>, after earlier: Self?) {
        let hasRefused = earlier?.mayKeep == false
        switch result {
        // A server must have exactly one Database Hash. If it reports several, none can be trusted.
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
    /// Whether a user is waiting for the operation.
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
