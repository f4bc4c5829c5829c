import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothUsers

/// One change of a store of bonds.
struct BondWrite: Sendable {
    /// The change of a bond; nil if no bond changes.
    let change: BondChange?
    /// Whose bonds they are.
    let local: DeviceIdentity
    /// The controller that this is the identity for; nil where the store knows.
    let controller: DeviceAddress?

    /// Carries it out.
    func perform(on store: any BondStore) throws(BondStoreError) {
        // An identity is kept with its first bond.
        if let controller, try store.identity(for: controller) != local { try store.keep(local, for: controller) }
        switch change {
        case nil: return
        case .kept(let bond): try store.save(bond, of: local)
        case .made(let made): try store.save(made.bond, of: local)
        case .removed(let bond, _): try store.remove(bond.peer, of: local)
        }
    }

    /// The bond that is void where this could not be carried out.
    fileprivate var made: Bond? { if case .made(let made) = change { made.bond } else { nil } }

    /// The update of a bond that was stored before.
    fileprivate var update: Bond? { if case .kept(let bond) = change { bond } else { nil } }
}

/// The outcome of a change.
struct BondWriteResult: Sendable {
    let write: BondWrite
    /// Nil for one that was carried out.
    let error: BondStoreError?
}

/// The bond that the store has with a peer, after the last of the changes that were under way.
struct SettledBond: Sendable {
    let peer: PeerID
    let local: DeviceIdentity
    /// Nil if the store has none.
    let bond: Bond?
}

/// Changes that wait to be written, and results that wait to be reported, both in order.
struct BondWriteQueue: Sendable {
    private(set) var waiting: [BondWrite] = []
    private var current: BondWrite?
    private var results: [BondWriteResult] = []
    /// The bonds that the store has with the peers of changes under way.
    private var stored: [PeerID: SettledBond] = [:]

    /// The maximum number of new bonds that wait. A peer can pair again and again while a store hangs.
    static let maximumMade = 64

    /// Whether nothing waits, and nothing is being written.
    var isIdle: Bool { waiting.isEmpty && current == nil }

    /// Adds a change. One that replaces another of the same bond takes its place, and a bond that is one too many fails at once:
    /// the queue of a store that hangs stays short.
    ///
    /// - Returns: false if the change is not written, because its bond could not be stored when it was made.
    mutating func append(_ write: BondWrite) -> Bool {
        if let peer = write.peer, stored[peer] == nil {
            stored[peer] = SettledBond(peer: peer, local: write.local, bond: write.former)
        }
        if write.made != nil, waiting.count(where: { $0.made != nil }) >= Self.maximumMade {
            results.append(BondWriteResult(write: write, error: .overloaded(Self.maximumMade)))
            return false
        }
        guard let update = write.update else {
            waiting.append(write)
            return true
        }
        let isVoid = results.contains { $0.error != nil && $0.write.made?.hasKeys(of: update) ?? false }
        guard !isVoid else { return false }
        if let last = waiting.lastIndex(where: { $0.peer == update.peer }), waiting[last].update != nil,
            waiting[last].local == write.local
        {
            waiting[last] = write
        } else {
            waiting.append(write)
        }
        return true
    }

    mutating func next() -> BondWrite? {
        current = waiting.isEmpty ? nil : waiting.removeFirst()
        return current
    }

    /// The oldest change has been carried out, or could not be.
    mutating func ended(_ write: BondWrite, _ error: BondStoreError?) {
        current = nil
        results.append(BondWriteResult(write: write, error: error))
        if error == nil, let peer = write.peer {
            stored[peer] = SettledBond(peer: peer, local: write.local, bond: write.outcome)
        }
        guard error != nil, let made = write.made else { return }
        // An update must not bring it back.
        waiting.removeAll { $0.update?.hasKeys(of: made) ?? false }
    }

    /// Drops all changes. One that is being written may succeed or not.
    ///
    /// - Returns: the number of changes whose outcome is unknown.
    mutating func abandon() -> Int {
        defer { (waiting, current, results, stored) = ([], nil, [], [:]) }
        return waiting.count + (current == nil ? 0 : 1)
    }

    mutating func takeResults() -> [BondWriteResult] {
        defer { results = [] }
        return results
    }

    /// The bonds that the store has with peers whose last change has ended, each reported once. After a failure they differ from the
    /// intended ones.
    mutating func takeSettled() -> [SettledBond] {
        guard !stored.isEmpty, results.isEmpty else { return [] }
        let busy = Set((waiting + [current].compactMap(\.self)).compactMap(\.peer))
        let settled = stored.values.filter { !busy.contains($0.peer) }.sorted { $0.peer.rawValue < $1.peer.rawValue }
        for bond in settled { stored[bond.peer] = nil }
        return settled
    }
}

extension BondWrite {
    /// The bond that the store has before it.
    fileprivate var former: Bond? {
        switch change {
        case nil: nil
        case .kept(let bond), .removed(let bond, _): bond
        case .made(let made): made.former
        }
    }

    /// The bond that the store has once it is carried out.
    fileprivate var outcome: Bond? {
        switch change {
        case nil, .removed: nil
        case .kept(let bond): bond
        case .made(let made): made.bond
        }
    }

    /// The peer whose bond it is about.
    fileprivate var peer: PeerID? {
        switch change {
        case nil: nil
        case .kept(let bond), .removed(let bond, _): bond.peer
        case .made(let made): made.bond.peer
        }
    }
}
