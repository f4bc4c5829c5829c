import BluetoothATT
import BluetoothGATT
import BluetoothHost

/// The GATT operations of one link in a shared host: those in progress, and those that wait.
///
/// Each entry records its caller and what it waits for. Entries that wait for the same thing continue in the order in
/// which they were added.
struct OperationScheduler: Sendable {
    /// What an entry waits for.
    enum Wait: Equatable, Sendable {
        /// The user's earlier calls. A call with `HostCall.keepsOrder` starts when they have ended.
        case turn
        /// A credit: this is a value that its user posted without having one. It also waits for its turn.
        case credit
        /// The Database Hash, on which this entry or one before it depends.
        case databaseHash
        /// Earlier operations of its lane, which are in progress on a bearer that this operation cannot use.
        case bearer(OperationLane)
        /// A link with more security. The peer refused the operation with this error, which is reported if the link
        /// cannot be secured.
        case protection(HostError)

        /// The maximum number of entries on one link that wait for this.
        fileprivate var limit: Int {
            switch self {
            case .turn, .credit, .databaseHash, .protection: OperationScheduler.capacity
            case .bearer: GATTClient.defaultMaximumWaiting
            }
        }

        fileprivate func isLike(_ other: Wait) -> Bool {
            switch (self, other) {
            case (.turn, .turn), (.turn, .credit), (.credit, .turn), (.credit, .credit), (.databaseHash, .databaseHash),
                (.bearer, .bearer), (.protection, .protection):
                true
            case (.turn, _), (.credit, _), (.databaseHash, _), (.bearer, _), (.protection, _): false
            }
        }
    }

    /// An operation of the GATT client that has not started, or that starts again.
    struct Operation: Sendable {
        let operation: GATTClientOperation
        let purpose: PendingOperation.Purpose
        /// How often the operation has started: see `PendingOperation`.
        private(set) var beginnings: UInt8 = 1
    }

    private struct Entry: Sendable {
        enum Request: Sendable {
            case operation(Operation)
            case call(HostCall)
        }

        let request: Request
        let wait: Wait

        /// The call that ends with this entry; nil for steps of a subscription or of the host, and for values without
        /// response, which end without an event.
        var call: UserCall? {
            switch request {
            case .operation(let operation): operation.purpose.call
            case .call(let call): call.kind.takesCredit ? nil : UserCall(call)
            }
        }

        /// The user that made the call; nil for steps of a subscription or of the host.
        var user: UserID? {
            switch request {
            case .operation(let operation): operation.purpose.call?.user
            case .call(let call): call.user
            }
        }
    }

    private var entries: [Entry] = []
    /// The calls that are in progress and keep the order of their users.
    private var turns: [UserCall] = []
    private var running: [PendingOperation] = []

    /// The maximum number of operations on one link that wait for the same thing.
    static let capacity = 4096

    // MARK: - Waiting

    /// Adds an operation that has to wait. Returns false if too many already wait for the same thing.
    mutating func hold(_ operation: Operation, for wait: Wait) -> Bool {
        guard hasRoom(for: wait) else { return false }
        entries.append(Entry(request: .operation(operation), wait: wait))
        return true
    }

    /// Whether there is room for another waiting entry.
    func hasRoom(for wait: Wait) -> Bool {
        entries.count < wait.limit || entries.count { $0.wait.isLike(wait) } < wait.limit
    }

    /// Whether an operation of this lane is waiting for a bearer. Other operations of the lane must not overtake it.
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

    /// Removes and returns the operations that wait for more security, with the error of the peer.
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

    /// The number of waiting operations and calls.
    var waitingCount: Int { entries.count }

    // MARK: - Turns

    /// Whether a call that must not overtake its user's earlier calls has to wait for one.
    @inline(__always)
    func mustWait(_ user: UserID) -> Bool {
        guard !turns.isEmpty || !entries.isEmpty else { return false }
        return hasEarlierCall(of: user)
    }

    private func hasEarlierCall(of user: UserID) -> Bool {
        turns.contains { $0.user == user }
            || entries.contains { if case .call(let call) = $0.request { call.user == user } else { false } }
    }

    /// Adds a call that waits for its turn, or for credit. Returns false if too many are waiting.
    mutating func hold(_ call: HostCall, for wait: Wait) -> Bool {
        guard hasRoom(for: wait) else { return false }
        entries.append(Entry(request: .call(call), wait: wait))
        return true
    }

    /// Starts a call. Later calls of its user wait until it ends.
    mutating func begin(_ call: UserCall) { turns.append(call) }

    /// Ends a call.
    ///
    /// - Returns: whether other calls of its user are waiting.
    mutating func ended(_ call: UserCall) -> Bool {
        guard let index = turns.firstIndex(of: call) else { return false }
        turns.remove(at: index)
        return hasEarlierCall(of: call.user)
    }

    /// Removes and returns the first call that may start now.
    ///
    /// - Parameter isExhausted: whether a user has no credit, so that its values must wait.
    mutating func nextCall(_ isExhausted: (UserID) -> Bool) -> HostCall? {
        guard !entries.isEmpty else { return nil }
        var blocked = turns.map(\.user)
        for index in entries.indices {
            // A value that keeps no order waits only for credit.
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

    /// The number of a user's values that wait for their turn or for credit, and whether any of them waits without a
    /// credit.
    func values(of user: UserID) -> (count: Int, isAnyOwing: Bool) {
        var result = (count: 0, isAnyOwing: false)
        for entry in entries {
            guard case .call(let call) = entry.request, call.user == user, call.kind.takesCredit else { continue }
            result.count += 1
            if entry.wait == .credit { result.isAnyOwing = true }
        }
        return result
    }

    /// Removes and returns the calls of a user that have not started.
    ///
    /// - Parameter isMeant: selects the calls; all by default.
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

    // MARK: - Operations in progress

    /// The operations that have started, oldest first.
    var operations: [PendingOperation] { running }

    var isIdle: Bool { running.isEmpty }

    mutating func begin(_ operation: PendingOperation) { running.append(operation) }

    /// Removes and returns an operation that has ended.
    mutating func finish(_ identifier: GATTClient.OperationID) -> PendingOperation? {
        // On one bearer, operations end in the order in which they started, except for cancelled ones.
        running.firstIndex { $0.identifier == identifier }.map { running.remove(at: $0) }
    }

    /// Marks an operation in progress as outdated, because attributes that it concerns have changed.
    mutating func outdate(_ identifier: GATTClient.OperationID) {
        guard let index = running.firstIndex(where: { $0.identifier == identifier }) else { return }
        running[index].outdate()
    }

    // MARK: - Ending

    /// Removes the entry of a call.
    ///
    /// - Returns: the call as it was waiting, with the turn that ends with it; nil if there is no such entry.
    mutating func remove(_ call: UserCall) -> UserCall? {
        guard let index = entries.firstIndex(where: { $0.call == call }) else { return nil }
        return entries.remove(at: index).call
    }

    /// Removes a user that has detached, with its calls.
    mutating func forget(_ user: UserID) {
        entries.removeAll { $0.user == user }
        turns.removeAll { $0.user == user }
    }

    /// Removes waiting entries that would reach other attributes, because the peer's services within these handles have
    /// changed.
    ///
    /// - Returns: the removed calls, and the users of removed values, whose credits must be returned.
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
                // A user that counts changes receives its results in the order of its calls, so this call fails when
                // its turn comes.
                guard call.knownChanges == nil, call.kind.isOutdated(by: handles) else { return false }
                if call.kind.takesCredit { values.append(call.user) } else { ended.append(UserCall(call)) }
            }
            return true
        }
        return (ended, values)
    }

    /// Removes all entries, because the link has ended.
    ///
    /// - Returns: the calls that end with the link: first those of operations in progress, then those that waited.
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
    /// Whether the operation must not start after a change of the services within these handles.
    fileprivate func isOver(by handles: ClosedRange<AttributeHandle>) -> Bool {
        switch purpose {
        case .call: operation.isOutdated(by: handles)
        // The subscription ended with the change, so no user is waiting.
        case .subscription(let characteristic): handles.contains(characteristic)
        case .readiness, .preparation, .databaseHash: false
        }
    }
}
