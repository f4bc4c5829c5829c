import BluetoothHost

/// The bond changes to be stored, and the calls that wait until a removal is stored.
struct BondRequests: Sendable {
    /// The changes that have not been taken yet, oldest first.
    private var changes: [BondChange] = []
    private var removals: [(request: UInt32, call: UserCall)] = []
    private var lastRequest: UInt32 = 0

    var hasChanges: Bool { !changes.isEmpty }

    mutating func append(_ change: BondChange) { changes.append(change) }

    /// Adds a removal that a call is waiting for.
    mutating func appendRemoval(of bond: Bond, for call: UserCall) {
        lastRequest &+= 1
        removals.append((lastRequest, call))
        changes.append(.removed(bond, request: lastRequest))
    }

    mutating func takeChanges() -> [BondChange] {
        defer { changes.removeAll() }
        return changes
    }

    /// Removes and returns the call that waits for a removal; nil if no call does.
    mutating func takeCall(of request: UInt32?) -> UserCall? {
        removals.firstIndex { $0.request == request }.map { removals.remove(at: $0).call }
    }

    /// Removes and returns all waiting calls, because their removals may never be stored.
    mutating func abandon() -> [UserCall] {
        defer { removals = [] }
        return removals.map(\.call)
    }
}
