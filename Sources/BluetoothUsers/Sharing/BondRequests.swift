import BluetoothHost

/// Changes of bonds on their way to a store, and the calls that wait until a removal is stored.
struct BondRequests: Sendable {
    /// The changes that the caller has not taken yet, oldest first.
    private var changes: [BondChange] = []
    private var removals: [(request: UInt32, call: UserCall)] = []
    private var lastRequest: UInt32 = 0

    var hasChanges: Bool { !changes.isEmpty }

    mutating func append(_ change: BondChange) { changes.append(change) }

    /// Adds a removal that a call waits for.
    mutating func appendRemoval(of bond: Bond, for call: UserCall) {
        lastRequest &+= 1
        removals.append((lastRequest, call))
        changes.append(.removed(bond, request: lastRequest))
    }

    mutating func takeChanges() -> [BondChange] {
        defer { changes.removeAll() }
        return changes
    }

    /// The call that waits for a removal; nil if none does.
    mutating func takeCall(of request: UInt32?) -> UserCall? {
        removals.firstIndex { $0.request == request }.map { removals.remove(at: $0).call }
    }

    /// The calls whose removals may never be stored.
    mutating func abandon() -> [UserCall] {
        defer { removals = [] }
        return removals.map(\.call)
    }
}
