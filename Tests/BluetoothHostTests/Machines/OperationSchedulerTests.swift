import BluetoothATT
import BluetoothBase
import BluetoothGATT
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("The queue of a link's GATT operations")
struct OperationSchedulerTests {
    private static let link = LinkIdentifier(slot: 0, generation: 1)
    private static let user = UserID(number: 1)
    private static let other = UserID(number: 2)

    private func call(
        _ token: UInt64, of user: UInt32 = 1, _ kind: HostCall.Kind = .awaitTurn(Self.link), keepsOrder: Bool = true
    ) -> HostCall {
        HostCall(
            user: UserID(number: user), token: CallToken(rawValue: token), kind: kind, keepsOrder: keepsOrder)
    }

    private func value(_ token: UInt64, of user: UInt32 = 1, keepsOrder: Bool = true) -> HostCall {
        call(token, of: user, .writeWithoutResponse(Self.link, 3, [1]), keepsOrder: keepsOrder)
    }

    private func operation(
        _ token: UInt64, of user: UInt32 = 1, _ operation: GATTClientOperation = .read(3)
    ) -> OperationScheduler.Operation {
        OperationScheduler.Operation(operation: operation, purpose: .call(UserCall(token, of: user)))
    }

    private func token(_ operation: OperationScheduler.Operation) -> UInt64? {
        if case .call(let call) = operation.purpose { call.token.rawValue } else { nil }
    }

    /// The tokens of the calls that begin one after the other; none of them ends.
    private func due(_ scheduler: inout OperationScheduler, without exhausted: [UserID] = []) -> [UInt64] {
        var tokens: [UInt64] = []
        while let waiting = scheduler.nextCall({ exhausted.contains($0) }) {
            tokens.append(waiting.token.rawValue)
            if !waiting.kind.takesCredit { scheduler.begin(UserCall(waiting)) }
        }
        return tokens
    }

    // MARK: - Turns

    @Test("A call begins when its user's earlier calls have ended, and does not hold up other users")
    func turns() {
        var scheduler = OperationScheduler()
        #expect(!scheduler.mustWait(Self.user))
        scheduler.begin(UserCall(1))
        #expect(scheduler.mustWait(Self.user) && !scheduler.mustWait(Self.other))
        for waiting in [call(2), call(3), call(4, of: 2)] { scheduler.add(waiting) }
        #expect(scheduler.waitingCount == 3)
        #expect(due(&scheduler) == [4])
        #expect(scheduler.ended(UserCall(1)) == true)
        #expect(due(&scheduler) == [2])
        #expect(scheduler.ended(UserCall(2)) == true)
        #expect(due(&scheduler) == [3])
        #expect(!scheduler.ended(UserCall(3)) && !scheduler.ended(UserCall(4, of: 2)))
        #expect(!scheduler.mustWait(Self.user) && !scheduler.mustWait(Self.other))
    }

    @Test("A waiting call holds back later ones, even if no call is in progress")
    func waitingHoldsBack() {
        var scheduler = OperationScheduler()
        scheduler.add(call(1))
        #expect(scheduler.mustWait(Self.user) && !scheduler.mustWait(Self.other))
    }

    @Test("The end of a call without a turn, or of one that has ended, changes nothing")
    func unknownEnd() {
        var scheduler = OperationScheduler()
        scheduler.begin(UserCall(1))
        scheduler.add(call(2))
        #expect(!scheduler.ended(UserCall(2)) && !scheduler.ended(UserCall(1, of: 2)))
        #expect(due(&scheduler) == [])
        #expect(scheduler.ended(UserCall(1)) == true)
        #expect(scheduler.ended(UserCall(1)) == false)
    }

    @Test("A value without a credit waits, and holds back only the same user's later calls")
    func credit() {
        var scheduler = OperationScheduler()
        for waiting in [value(1), call(2), value(3, of: 2), call(4, of: 2), value(5)] {
            scheduler.add(waiting)
        }
        #expect(due(&scheduler, without: [Self.user]) == [3, 4])
        #expect(due(&scheduler, without: [Self.user]) == [])
        #expect(due(&scheduler) == [1, 2])
        #expect(!scheduler.ended(UserCall(4, of: 2)) && scheduler.ended(UserCall(2)))
        #expect(due(&scheduler) == [5])
    }

    @Test("An unordered value waits for its credit, but not for calls")
    func unorderedValue() {
        var scheduler = OperationScheduler()
        scheduler.begin(UserCall(1))
        for waiting in [value(2, keepsOrder: false), value(3), value(4, keepsOrder: false)] {
            scheduler.add(waiting)
        }
        #expect(due(&scheduler, without: [Self.user]) == [])
        #expect(due(&scheduler) == [2, 4])
        #expect(scheduler.ended(UserCall(1)) == true)
        #expect(due(&scheduler) == [3])
    }

    @Test("A user's waiting calls can be dropped, and its waiting values are counted, with whether a credit is owed")
    func droppedCalls() {
        var scheduler = OperationScheduler()
        #expect(scheduler.takeCalls(of: Self.user).isEmpty)
        for waiting in [call(1), call(2, of: 2), value(3)] { scheduler.add(waiting) }
        scheduler.add(operation(4), for: .databaseHash)
        #expect(scheduler.values(of: Self.user) == (1, false))
        let isHeld = scheduler.hold(value(5), for: .credit)
        #expect(isHeld)
        #expect(scheduler.values(of: Self.user) == (2, true) && scheduler.values(of: Self.other) == (0, false))
        #expect(scheduler.takeCalls(of: Self.user).map(\.token.rawValue) == [1, 3, 5])
        #expect(scheduler.waitingCount == 2 && !scheduler.mustWait(Self.user))
    }

    // MARK: - Waits

    @Test("Operations that wait for the hash resume together, in order")
    func hash() {
        var scheduler = OperationScheduler()
        #expect(scheduler.takeWaitingForHash().isEmpty)
        for (token, wait) in [
            (1, .databaseHash), (2, .protection(.timedOut)), (3, .bearer(.host)), (4, .databaseHash),
        ] as [(UInt64, OperationScheduler.Wait)] {
            scheduler.add(operation(token, of: UInt32(token)), for: wait)
        }
        #expect(scheduler.takeWaitingForHash().map(token) == [1, 4])
        #expect(scheduler.takeWaitingForHash().isEmpty && scheduler.waitingCount == 2)
    }

    @Test("An operation that waits for a bearer holds back its lane, and no other")
    func lanes() {
        var scheduler = OperationScheduler()
        let lanes: [OperationLane] = [
            .host, .user(Self.user), .user(Self.other), .attribute(Self.user, 3), .attribute(Self.user, 4),
            .attribute(Self.other, 3),
        ]
        #expect(!scheduler.holds(.host))
        for (index, lane) in lanes.enumerated() {
            #expect(!scheduler.holds(lane))
            scheduler.add(operation(UInt64(index)), for: .bearer(lane))
            #expect(scheduler.holds(lane))
        }
        scheduler.add(operation(6), for: .bearer(.none))
        #expect(!scheduler.holds(.none))
        #expect(scheduler.takeWaitingForBearer().map(token) == [0, 1, 2, 3, 4, 5, 6])
        #expect(!lanes.contains { scheduler.holds($0) } && scheduler.takeWaitingForBearer().isEmpty)
    }

    @Test("An operation that waits for protection is returned with the peer's refusal")
    func protection() {
        var scheduler = OperationScheduler()
        #expect(scheduler.takeWaitingForProtection().isEmpty)
        let refusals: [HostError] = [.timedOut, .busy]
        for (index, refusal) in refusals.enumerated() {
            scheduler.add(operation(UInt64(index)), for: .protection(refusal))
            scheduler.add(operation(UInt64(index) + 10), for: .databaseHash)
        }
        let taken = scheduler.takeWaitingForProtection()
        #expect(taken.map { token($0.operation) } == [0, 1] && taken.map(\.refusal) == refusals)
        #expect(scheduler.waitingCount == 2)
    }

    @Test("The number of times an operation has begun is kept while it waits")
    func beginnings() {
        var scheduler = OperationScheduler()
        let repeated = OperationScheduler.Operation(operation: .read(3), purpose: .preparation, beginnings: 3)
        scheduler.add(repeated, for: .bearer(.host))
        #expect(scheduler.takeWaitingForBearer().map(\.beginnings) == [3])
    }

    @Test(
        "The number of operations that wait for each thing is limited",
        arguments: [
            (OperationScheduler.Wait.databaseHash, OperationScheduler.capacity),
            (.protection(.timedOut), OperationScheduler.capacity), (.bearer(.host), GATTClient.defaultMaximumWaiting),
        ])
    func limits(_ wait: OperationScheduler.Wait, _ limit: Int) {
        var scheduler = OperationScheduler()
        var isHeld = true
        for token in 0..<limit { isHeld = isHeld && scheduler.hold(operation(UInt64(token)), for: wait) }
        #expect(isHeld && !scheduler.hasRoom(for: wait))
        #expect(scheduler.hold(operation(9999), for: wait) == false)
        // Other things are not concerned.
        scheduler.add(call(1))
        #expect(scheduler.waitingCount == limit + 1)
    }

    @Test("The number of calls that wait for a turn is limited")
    func turnLimit() {
        var scheduler = OperationScheduler()
        var isHeld = true
        for token in 0..<OperationScheduler.capacity {
            isHeld = isHeld && scheduler.hold(call(UInt64(token)), for: .turn)
        }
        #expect(isHeld && !scheduler.hold(call(9999), for: .turn) && !scheduler.hold(value(9999, of: 2), for: .turn))
        scheduler.add(operation(9999), for: .databaseHash)
    }

    // MARK: - Under way

    @Test("Operations in progress are found by their identifiers, oldest first")
    func underWay() {
        var scheduler = OperationScheduler()
        #expect(scheduler.isIdle)
        let operations = (1...3).map { PendingOperation($0, .read(3), .call(UserCall(UInt64($0)))) }
        for operation in operations { scheduler.begin(operation) }
        #expect(!scheduler.isIdle)
        scheduler.outdate(operations[1].identifier)
        #expect(scheduler.operations.map(\.isOutdated) == [false, true, false])
        let finished = scheduler.finish(operations[1].identifier)
        #expect(finished?.isOutdated == true && finished?.identifier == operations[1].identifier)
        #expect(scheduler.finish(operations[1].identifier) == nil)
        scheduler.outdate(operations[1].identifier)
        #expect(scheduler.operations.map(\.identifier) == [operations[0].identifier, operations[2].identifier])
        #expect(scheduler.operations.allSatisfy { !$0.isOutdated })
        for operation in operations { _ = scheduler.finish(operation.identifier) }
        #expect(scheduler.isIdle)
    }

    // MARK: - Ends

    @Test("A cancelled call is returned with its turn, so that ending it lets the next call begin")
    func removal() throws {
        var scheduler = OperationScheduler()
        #expect(scheduler.remove(UserCall(1)) == nil)
        var first = UserCall(1)
        first.turn = Self.link
        scheduler.begin(first)
        scheduler.add(.init(operation: .read(3), purpose: .call(first)), for: .protection(.timedOut))
        for waiting in [call(2), call(3)] { scheduler.add(waiting) }
        #expect(scheduler.remove(UserCall(2)) == UserCall(2))
        #expect(scheduler.remove(UserCall(2)) == nil && scheduler.remove(UserCall(3, of: 2)) == nil)
        let waiting = scheduler.remove(UserCall(1))
        let removed = try #require(waiting)
        #expect(removed.turn == Self.link && due(&scheduler) == [])
        #expect(scheduler.ended(removed) == true)
        #expect(due(&scheduler) == [3])
    }

    @Test("A write without response cannot be cancelled")
    func removingValue() {
        var scheduler = OperationScheduler()
        scheduler.add(value(1))
        #expect(scheduler.remove(UserCall(1)) == nil && scheduler.waitingCount == 1)
        #expect(scheduler.end().isEmpty)
    }

    @Test("The calls of a departed user are forgotten; those of other users and the host stay")
    func forgetting() {
        var scheduler = OperationScheduler()
        scheduler.begin(UserCall(1))
        scheduler.begin(UserCall(1, of: 2))
        for waiting in [call(2), value(3), call(2, of: 2)] { scheduler.add(waiting) }
        scheduler.add(operation(4), for: .databaseHash)
        scheduler.add(operation(4, of: 2), for: .databaseHash)
        let subscription = OperationScheduler.Operation(operation: .read(3), purpose: .subscription(3))
        scheduler.add(subscription, for: .databaseHash)
        scheduler.forget(Self.user)
        #expect(scheduler.waitingCount == 3)
        #expect(!scheduler.mustWait(Self.user) && scheduler.mustWait(Self.other))
        #expect(scheduler.takeWaitingForHash().map(\.purpose) == [.call(UserCall(4, of: 2)), .subscription(3)])
    }

    @Test("A change of services removes calls and subscriptions for changed attributes, whatever they wait for")
    func invalidation() {
        var scheduler = OperationScheduler()
        let held: [(GATTClientOperation, PendingOperation.Purpose, OperationScheduler.Wait)] = [
            (.read(3), .call(UserCall(1)), .databaseHash), (.read(9), .call(UserCall(2)), .databaseHash),
            (.write(4, [1]), .call(UserCall(3)), .bearer(.host)),
            (.discoverCharacteristics(in: 2...9), .call(UserCall(4)), .protection(.timedOut)),
            (.discoverPrimaryServices(), .call(UserCall(5)), .databaseHash),
            (.configure(descriptor: 4, .notifications), .subscription(3), .databaseHash),
            (.configure(descriptor: 8, .notifications), .subscription(7), .databaseHash),
            (.configure(descriptor: 4, .indications), .preparation, .databaseHash),
        ]
        for (operation, purpose, wait) in held {
            scheduler.add(.init(operation: operation, purpose: purpose), for: wait)
        }
        #expect(scheduler.invalidate(in: 3...5).ended == [UserCall(1), UserCall(3), UserCall(4)])
        #expect(
            scheduler.takeWaitingForHash().map(\.purpose)
                == [.call(UserCall(2)), .call(UserCall(5)), .subscription(7), .preparation])
        #expect(scheduler.waitingCount == 0)
    }

    @Test(
        "A change of services ends calls that wait for a turn, unless their user counts changes",
        arguments: [false, true])
    func outdatedCalls(_ counts: Bool) {
        var scheduler = OperationScheduler()
        let request = SubscriptionRequest(characteristic: 3, end: 5, configuration: .notifications)
        let calls: [HostCall.Kind] = [
            .perform(Self.link, .read(3)), .perform(Self.link, .read(9)), .write(Self.link, 4, [1]),
            .writeWithoutResponse(Self.link, 5, [1]), .writeWithoutResponse(Self.link, 6, [1]),
            .subscribe(Self.link, request), .unsubscribeAll(Self.link, 3), .awaitTurn(Self.link),
        ]
        for (index, kind) in calls.enumerated() {
            var call = call(UInt64(index), of: UInt32(index), kind)
            if counts { call.knownChanges = 0 }
            scheduler.add(call)
        }
        let (ended, values) = scheduler.invalidate(in: 3...5)
        #expect(ended == (counts ? [] : [0, 2, 5].map { UserCall(UInt64($0), of: UInt32($0)) }))
        #expect(values == (counts ? [] : [UserID(number: 3)]))
        // Their users are notified of the change, and such a call fails when its turn comes.
        var left: [UInt64] = []
        while let call = scheduler.nextCall({ _ in false }) { left.append(call.token.rawValue) }
        #expect(left == (counts ? Array(0..<8) : [1, 4, 6, 7]))
    }

    @Test("When the link ends, calls in progress end first, then those that wait")
    func end() {
        var scheduler = OperationScheduler()
        scheduler.begin(UserCall(5))
        scheduler.add(operation(3), for: .protection(.timedOut))
        scheduler.add(call(6))
        scheduler.add(operation(4), for: .databaseHash)
        scheduler.add(.init(operation: .read(3), purpose: .subscription(3)), for: .databaseHash)
        scheduler.begin(PendingOperation(1, .read(3), .call(UserCall(1))))
        scheduler.begin(PendingOperation(2, .read(3), .preparation))
        scheduler.begin(PendingOperation(3, .read(3), .call(UserCall(2))))
        #expect(scheduler.end() == [1, 2, 3, 6, 4].map { UserCall($0) })
        #expect(scheduler.isIdle && scheduler.waitingCount == 0 && !scheduler.mustWait(Self.user))
        #expect(scheduler.end().isEmpty)
    }
}
