import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothUsers

/// One change to a bond store.
struct BondWrite: Sendable {
    /// The change of a bond; nil if only the identity is stored.
    let change: BondChange?
    /// The local identity that the bond belongs to.
    let local: DeviceIdentity
    /// The controller to store the identity for; nil if the store already has it.
    let controller: DeviceAddress?

    /// Applies the change to a store.
    func perform(on store: any BondStore) throws(BondStoreError) {
        // The identity is stored together with its first bond.
        if let controller, try store.identity(for: controller) != local { try store.keep(local, for: controller) }
        switch change {
        case nil: return
        case .kept(let bond): try store.save(bond, of: local)
        case .made(let made): try store.save(made.bond, of: local)
        case .removed(let bond, _): try store.remove(bond.peer, of: local)
        }
    }

    /// The new bond, which becomes invalid if this change fails.
    fileprivate var made: Bond? { if case .made(let made) = change { made.bond } else { nil } }

    /// The update of a bond that was stored before.
    fileprivate var update: Bond? { if case .kept(let bond) = change { bond } else { nil } }
}

/// The outcome of a change.
struct BondWriteResult: Sendable {
    let write: BondWrite
    /// Nil if the change was carried out.
    let error: BondStoreError?
}

/// The bond that the store has with a peer after its last pending change has ended.
struct SettledBond: Sendable {
    let peer: PeerID
    let local: DeviceIdentity
    /// Nil if the store has none.
    let bond: Bond?
}

/// The changes that wait to be written and the results that wait to be reported, both in order.
struct BondWriteQueue: Sendable {
    private(set) var waiting: [BondWrite] = []
    private var current: BondWrite?
    private var results: [BondWriteResult] = []
    /// For each peer with a pending change, the bond that the store currently has.
    private var stored: [PeerID: SettledBond] = [:]

    /// The maximum number of new bonds that may wait. A peer can pair repeatedly while a store hangs.
    static let maximumMade = 64

    /// Whether no change is waiting or being written.
    var isIdle: Bool { waiting.isEmpty && current == nil }

    /// Adds a change. The queue stays short even if the store hangs: an update replaces a waiting update of the same
    /// bond, and a new bond beyond `maximumMade` fails immediately.
    ///
    /// - Returns: false if nothing was added, because too many new bonds are waiting or because the bond that this
    ///   updates could not be stored.
    mutating func append(_ write: BondWrite) -> Bool {
        if let peer = write.peer, stored[peer] == nil {
            stored[peer] = SettledBond(peer: peer, local: write.local, bond: write.former)
        }
        if write.made != nil, waiting.count(where: { $0.made != nil }) >= Self.maximumMade {
            results.append(BondWriteResult(write: write, error: .overloaded(maximum: Self.maximumMade)))
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

    /// The oldest change was carried out, or failed with `error`.
    mutating func ended(_ write: BondWrite, _ error: BondStoreError?) {
        current = nil
        results.append(BondWriteResult(write: write, error: error))
        if error == nil, let peer = write.peer {
            stored[peer] = SettledBond(peer: peer, local: write.local, bond: write.outcome)
        }
        guard error != nil, let made = write.made else { return }
        // A waiting update must not restore the bond.
        waiting.removeAll { $0.update?.hasKeys(of: made) ?? false }
    }

    /// Drops all changes. The change that is being written may still succeed.
    ///
    /// - Returns: the number of dropped changes, including the one that is being written.
    mutating func abandon() -> Int {
        defer { (waiting, current, results, stored) = ([], nil, [], [:]) }
        return waiting.count + (current == nil ? 0 : 1)
    }

    mutating func takeResults() -> [BondWriteResult] {
        defer { results = [] }
        return results
    }

    /// The bonds that the store has with peers whose last change has ended. Each is reported once. After a failed write
    /// they differ from the intended bonds.
    mutating func takeSettled() -> [SettledBond] {
        guard !stored.isEmpty, results.isEmpty else { return [] }
        let busy = Set((waiting + [current].compactMap(\.self)).compactMap(\.peer))
        let settled = stored.values.filter { !busy.contains($0.peer) }.sorted { $0.peer.rawValue < $1.peer.rawValue }
        for bond in settled { stored[bond.peer] = nil }
        return settled
    }
}

extension BondWrite {
    /// The bond that the store has before the change.
    fileprivate var former: Bond? {
        switch change {
        case nil: nil
        case .kept(let bond), .removed(let bond, _): bond
        case .made(let made): made.former
        }
    }

    /// The bond that the store has after the change.
    fileprivate var outcome: Bond? {
        switch change {
        case nil, .removed: nil
        case .kept(let bond): bond
        case .made(let made): made.bond
        }
    }

    /// The peer whose bond changes.
    fileprivate var peer: PeerID? {
        switch change {
        case nil: nil
        case .kept(let bond), .removed(let bond, _): bond.peer
        case .made(let made): made.bond.peer
        }
    }
}
