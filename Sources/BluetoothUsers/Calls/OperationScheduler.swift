import BluetoothATT
import BluetoothGATT
import BluetoothHost

/// The GATT operations of one link in a shared host: those under way, and the one place where others wait.
///
/// An entry records who asked and what it waits for. Entries that wait for the same thing go on in the order in which they came.
struct OperationScheduler: Sendable {
    /// What an entry waits for.
    enum Wait: Equatable, Sendable {
        /// For its user's earlier calls: a call with `HostCall.keepsOrder` begins when they have ended.
        case turn
        /// For the answer about the Database Hash, which decides about the entry or one before it.
        case databaseHash
        /// For earlier operations of its lane, which are under way on a bearer where it may not go.
        case bearer(OperationLane)
        /// For a better protected link. The peer refused the operation with this error, which is reported if protection fails.
        case protection(HostError)

        /// The most entries that wait for this on one link.
        fileprivate var limit: Int {
            switch self {
            case .turn, .databaseHash, .protection: OperationScheduler.capacity
            case .bearer: GATTClient.defaultMaximumWaiting
            }
        }

        fileprivate func isLike(_ other: Wait) -> Bool {
            switch (self, other) {
            case (.turn, .turn), (.databaseHash, .databaseHash), (.bearer, .bearer), (.protection, .protection): true
            case (.turn, _), (.databaseHash, _), (.bearer, _), (.protection, _): false
            }
        }
    }

    /// An operation of the GATT client that has not begun, or begins again.
    struct Operation: Sendable {
        let operation: GATTClientOperation
        let purpose: PendingOperation.Purpose
        /// How often it has begun: see `PendingOperation`.
        private(set) var beginnings: UInt8 = 1
    }

    private struct Entry: Sendable {
        enum Request: Sendable {
            case operation(Operation)
            case call(HostCall)
        }

        let request: Request
        let wait: Wait
        /// Whether it is a value whose user has no credit for it.
        var isOwing = false

        /// The call that ends with this entry; nil for a step of a subscription or of the host's own, and for a value without
        /// response, which ends without an event.
        var call: UserCall? {
            switch request {
            case .operation(let operation): operation.purpose.call
            case .call(let call): call.kind.takesCredit ? nil : UserCall(call)
            }
        }

        /// The user that asked; nil for a step of a subscription or of the host's own.
        var user: UserID? {
            switch request {
            case .operation(let operation): operation.purpose.call?.user
            case .call(let call): call.user
            }
        }
    }

    private var entries: [Entry] = []
    /// The call of each user that has its turn.
    private var turns: [UserCall] = []
    private var running: [PendingOperation] = []

    /// The most operations that wait for one thing on one link.
    static let capacity = 4096

    // MARK: - Waiting

    /// Adds an operation that has to wait. False if too many wait for the same.
    mutating func hold(_ operation: Operation, for wait: Wait) -> Bool {
        guard hasRoom(for: wait) else { return false }
        entries.append(Entry(request: .operation(operation), wait: wait))
        return true
    }

    /// Whether one more entry may wait.
    func hasRoom(for wait: Wait) -> Bool {
        entries.count < wait.limit || entries.count { $0.wait.isLike(wait) } < wait.limit
    }

    /// Whether an operation of a lane waits for a bearer: others of that lane must not overtake it.
    func holds(_ lane: OperationLane) -> Bool {
        guard !entries.isEmpty, lane != .none else { return false }
        return entries.contains { $0.wait == .bearer(lane) }
    }

    /// Removes and returns the operations that wait for a bearer.
    mutating func takeWaitingForBearer() -> [Operation] {
        takeOperations { if case .bearer = $0.wait { true } else { false } }
    }

    /// Removes and returns the operations that wait for the Database Hash.
    mutating func takeWaitingForHash() -> [Operation] { takeOperations { $0.wait == .databaseHash } }

    /// Removes and returns the operations that wait for a better protected link, with the peer's refusal.
    mutating func takeWaitingForProtection() -> [(operation: Operation, refusal: HostError)] {
        guard !entries.isEmpty else { return [] }
        var taken: [(Operation, HostError)] = []
        entries.removeAll { entry in
            guard case .protection(let refusal) = entry.wait, case .operation(let operation) = entry.request else {
                return false
            }
            taken.append((operation, refusal))
            return true
        }
        return taken
    }

    private mutating func takeOperations(where isMeant: (Entry) -> Bool) -> [Operation] {
        guard !entries.isEmpty else { return [] }
        var taken: [Operation] = []
        entries.removeAll { entry in
            guard isMeant(entry), case .operation(let operation) = entry.request else { return false }
            taken.append(operation)
            return true
        }
        return taken
    }

    /// How many operations and calls wait.
    var waitingCount: Int { entries.count }

    // MARK: - Turns

    /// Whether a call that keeps the order of its user must wait for earlier ones.
    @inline(__always)
    func mustWait(_ user: UserID) -> Bool {
        guard !turns.isEmpty || !entries.isEmpty else { return false }
        return hasEarlierCall(of: user)
    }

    private func hasEarlierCall(of user: UserID) -> Bool {
        turns.contains { $0.user == user }
            || entries.contains { if case .call(let call) = $0.request { call.user == user } else { false } }
    }

    /// Adds a call that waits for its turn, or for credit. False if too many wait.
    ///
    /// - Parameter isOwing: whether it is a value whose user has no credit for it.
    mutating func hold(_ call: HostCall, isOwing: Bool = false) -> Bool {
        guard hasRoom(for: .turn) else { return false }
        entries.append(Entry(request: .call(call), wait: .turn, isOwing: isOwing))
        return true
    }

    /// A call begins, and the later ones of its user wait until it ends.
    mutating func begin(_ call: UserCall) { turns.append(call) }

    /// A call has ended.
    ///
    /// - Returns: whether others of its user wait.
    mutating func ended(_ call: UserCall) -> Bool {
        guard let index = turns.firstIndex(of: call) else { return false }
        turns.remove(at: index)
        return hasEarlierCall(of: call.user)
    }

    /// Removes and returns the first call whose turn it is.
    ///
    /// - Parameter isExhausted: whether a user has no credit: its values wait.
    mutating func nextCall(_ isExhausted: (UserID) -> Bool) -> HostCall? {
        guard !entries.isEmpty else { return nil }
        var blocked = turns.map(\.user)
        for index in entries.indices {
            // A value that keeps no order waits for its credit only.
            guard case .call(let call) = entries[index].request, !call.keepsOrder || !blocked.contains(call.user) else {
                continue
            }
            if call.kind.takesCredit, isExhausted(call.user) {
                blocked.append(call.user)
                continue
            }
            entries.remove(at: index)
            return call
        }
        return nil
    }

    /// How many values of a user wait for their turn or for credit, and whether the user has no credit for some of them.
    func values(of user: UserID) -> (count: Int, isOwing: Bool) {
        var result = (count: 0, isOwing: false)
        for entry in entries {
            guard case .call(let call) = entry.request, call.user == user, call.kind.takesCredit else { continue }
            result.count += 1
            if entry.isOwing { result.isOwing = true }
        }
        return result
    }

    /// Removes and returns the calls of a user that have not begun.
    ///
    /// - Parameter isMeant: which of them; all by default.
    mutating func takeCalls(
        of user: UserID, where isMeant: (HostCall.Kind) -> Bool = { _ in true }
    ) -> [HostCall] {
        guard !entries.isEmpty else { return [] }
        var taken: [HostCall] = []
        entries.removeAll { entry in
            guard case .call(let call) = entry.request, call.user == user, isMeant(call.kind) else { return false }
            taken.append(call)
            return true
        }
        return taken
    }

    // MARK: - Under way

    /// The operations that have begun, oldest first.
    var operations: [PendingOperation] { running }

    var isIdle: Bool { running.isEmpty }

    mutating func begin(_ operation: PendingOperation) { running.append(operation) }

    /// Removes and returns an operation that has ended.
    mutating func finish(_ identifier: GATTClient.OperationID) -> PendingOperation? {
        // On one bearer they end in order, except for cancelled ones.
        running.firstIndex { $0.identifier == identifier }.map { running.remove(at: $0) }
    }

    /// Attributes that a running operation concerns have changed.
    mutating func outdate(_ identifier: GATTClient.OperationID) {
        guard let index = running.firstIndex(where: { $0.identifier == identifier }) else { return }
        running[index].outdate()
    }

    // MARK: - Ends

    /// Removes the entry of a call.
    ///
    /// - Returns: the call as it waited, with the turn that ends with it; nil if there is none.
    mutating func remove(_ call: UserCall) -> UserCall? {
        guard let index = entries.firstIndex(where: { $0.call == call }) else { return nil }
        return entries.remove(at: index).call
    }

    /// A user is gone, with its calls.
    mutating func forget(_ user: UserID) {
        entries.removeAll { $0.user == user }
        turns.removeAll { $0.user == user }
    }

    /// The peer's services in these handles have changed. What waits and would reach other attributes is removed.
    ///
    /// - Returns: the removed calls, and the users of removed values, whose credits are free.
    mutating func invalidate(in handles: ClosedRange<AttributeHandle>) -> (ended: [UserCall], values: [UserID]) {
        guard !entries.isEmpty else { return ([], []) }
        var ended: [UserCall] = []
        var values: [UserID] = []
        entries.removeAll { entry in
            switch entry.request {
            case .operation(let operation):
                guard operation.isOver(by: handles) else { return false }
                if let call = operation.purpose.call { ended.append(call) }
            case .call(let call):
                // A user that counts changes gets its results in the order of its calls, so such a call fails when its turn comes.
                guard call.knownChanges == nil, call.kind.isOutdated(by: handles) else { return false }
                if call.kind.takesCredit { values.append(call.user) } else { ended.append(UserCall(call)) }
            }
            return true
        }
        return (ended, values)
    }

    /// The link is gone.
    ///
    /// - Returns: the calls that end with it: of operations under way first, then those that waited.
    mutating func end() -> [UserCall] {
        defer { (entries, turns, running) = ([], [], []) }
        return running.compactMap(\.purpose.call) + entries.compactMap(\.call)
    }
}

extension PendingOperation.Purpose {
    /// The call that ends with the operation; nil if no call does.
    fileprivate var call: UserCall? { if case .call(let call) = self { call } else { nil } }
}

extension OperationScheduler.Operation {
    /// Whether it must not begin after a change of the services in these handles.
    fileprivate func isOver(by handles: ClosedRange<AttributeHandle>) -> Bool {
        switch purpose {
        case .call: operation.isOutdated(by: handles)
        // Nobody waits for a subscription that has ended with the change.
        case .subscription(let characteristic): handles.contains(characteristic)
        case .readiness, .preparation, .databaseHash: false
        }
    }
}
