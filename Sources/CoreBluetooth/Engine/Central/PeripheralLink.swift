import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothHost

/// One manager's use of a link to a peer: its calls, and what it receives.
final class PeripheralLink: ManagedLink, @unchecked Sendable {
    // Unchecked: as its superclass, or guarded.

    let isOutgoing: Bool
    /// The session that uses the link, from the delegate callback on.
    @Guarded var user: PeripheralSession?

    /// Whether this manager has asked for the link. Behind the lock of the session, like the properties below.
    var isHeld = false
    /// The peer's services; nil until they are known.
    var services: Set<BluetoothUUID>?

    private struct Item {
        enum Kind {
            /// - Parameter hasCredit: whether it has its credit already.
            case command(AttributeHandle, [UInt8], hasCredit: Bool)
            case operation(PeripheralOperation)
        }

        let kind: Kind
        /// How many changes of services the application knew of when it called.
        let knownChanges: UInt32
    }

    private unowned let central: CentralSession
    private let line = CallLine<Item>()
    /// How many writes without response wait for a credit. While there are any, later ones wait behind them.
    ///
    /// `isReadyAwaited`: whether the application is to be told when none wait any more. Where it waits for credits alone, the
    /// lease knows.
    @Guarded private var backlog = (waiting: 0, isReadyAwaited: false)
    /// The subscriptions, by value handle.
    @Guarded private var subscriptions: [AttributeHandle: CallToken] = [:]

    /// The value whose subscription is under way: the first values may come before the peer's response.
    @Guarded private var subscribing: AttributeHandle?

    /// How many changes of the peer's services there were, and how many of them the application knows of: it uses old handles until
    /// it is told.
    @Guarded private var changes: (count: UInt32, known: UInt32)

    /// How many may wait for a credit: not every application asks whether it can send.
    private static let limit = 256

    init(
        _ identifier: LinkIdentifier, _ information: LinkInformation, _ attachment: Attachment,
        of central: CentralSession
    ) {
        self.central = central
        isOutgoing = information.role == .central
        changes = (information.serviceChanges, information.serviceChanges)
        super.init(identifier, information.peer, attachment, SendLease(), mtu: information.mtu)
    }

    /// The same link, used again after it was released.
    init(anew link: PeripheralLink) {
        central = link.central
        isOutgoing = link.isOutgoing
        services = link.services
        let count = link.$changes.withLock { $0.count }
        changes = (count, count)
        // Earlier writes are still on their way.
        super.init(link.identifier, link.peer, link.attachment, link.lease, mtu: link.mtu, link.pipes)
    }

    // MARK: - Calls

    /// Whether a write without response goes without waiting. If not, `.readyToWrite` follows when one does.
    var canWriteCommands: Bool {
        $backlog.withLock { backlog in
            if backlog.waiting == 0 { return lease.isAvailable }
            backlog.isReadyAwaited = true
            return false
        }
    }

    /// Makes the host carry out an operation, after all earlier ones.
    func perform(_ operation: PeripheralOperation) {
        add(.operation(operation))
        run()
    }

    /// Writes a value without response, after all earlier operations. False if it is dropped.
    func writeCommand(_ value: [UInt8], to handle: AttributeHandle) -> Bool {
        // In one step: a credit that is taken by a write behind others that wait would be of no use.
        let isAccepted = $backlog.withLock { backlog in
            let hasCredit = backlog.waiting == 0 && lease.take()
            guard hasCredit || backlog.waiting < Self.limit else {
                backlog.isReadyAwaited = true
                return false
            }
            if !hasCredit { backlog.waiting += 1 }
            add(.command(handle, value, hasCredit: hasCredit))
            return true
        }
        if isAccepted { run() }
        return isAccepted
    }

    private func add(_ kind: Item.Kind) { line.add(Item(kind: kind, knownChanges: $changes.withLock { $0.known })) }

    /// Makes the calls that are possible now.
    func run() { line.run { start($0) } }

    private func start(_ item: Item) -> CallLine<Item>.Step {
        switch item.kind {
        case .command(let handle, let value, let hasCredit):
            if !hasCredit {
                guard lease.take() else { return .blocked }
                $backlog.withLock { $0.waiting -= 1 }
            }
            attachment.post(.writeWithoutResponse(identifier, handle, value), knownChanges: item.knownChanges)
            if !hasCredit, becomesReady() { central.post(.readyToWrite(self)) }
            return .goesOn
        case .operation(let operation):
            switch operation.call(on: identifier, subscriptions) {
            case .success(let call?):
                if case .subscribe(_, let request) = call { subscribing = request.characteristic }
                // If the power cycle is over, no event follows.
                _ = attachment.begin(
                    .operation(self, operation), call, token: attachment.runner.makeToken(),
                    knownChanges: item.knownChanges)
                return .waits
            case .success(nil): answer(operation, .success(.done))
            case .failure(let error): answer(operation, .failure(error))
            }
            return .goesOn
        }
    }

    /// Reports what ends without the peer.
    private func answer(_ operation: PeripheralOperation, _ result: Result<CallResult, HostError>) {
        central.waitForCaller()
        central.post(.operationEnded(self, operation, result))
    }

    /// A write without response is not made.
    private func drop(hasCredit: Bool) {
        $backlog.withLock { backlog in
            if !hasCredit {
                backlog.waiting -= 1
            } else if lease.add(1, wakingAt: Self.readyCount + backlog.waiting) {
                backlog.isReadyAwaited = true
            }
        }
    }

    // MARK: - What happens, on the adapter's thread. `run` follows.

    func operationEnded(_ operation: PeripheralOperation, _ token: CallToken, _ result: Result<CallResult, HostError>) {
        if let (characteristic, isEnabled) = operation.subscription, case .success = result {
            $subscriptions.withLock { $0[characteristic.handle] = isEnabled ? token : nil }
        }
        subscribing = nil
        line.ended()
    }

    /// Whether the application has subscribed to a value. The peer may send more: a subscription of an earlier connection, which
    /// it keeps with its bond, or what nobody asked for.
    func wantsValues(at handle: AttributeHandle) -> Bool {
        $subscriptions.withLock { $0[handle] != nil } || subscribing == handle
    }

    /// Some writes without response were sent. True if the application had to wait and may now continue. Where others wait,
    /// perhaps behind an operation that has not ended, it is told after the last of them.
    func credited(_ count: Int) -> Bool {
        $backlog.withLock { backlog in
            if lease.add(count, wakingAt: Self.readyCount + backlog.waiting) { backlog.isReadyAwaited = true }
        }
        line.resume()
        return becomesReady()
    }

    /// Whether the application is to be told now that it may continue. It is told once.
    private func becomesReady() -> Bool {
        $backlog.withLock { backlog in
            guard backlog.isReadyAwaited, backlog.waiting == 0 else { return false }
            backlog.isReadyAwaited = false
            return true
        }
    }

    /// Returns the number of the change.
    func servicesChanged(in handles: ClosedRange<AttributeHandle>) -> UInt32 {
        $subscriptions.withLock { $0 = $0.filter { !handles.contains($0.key) } }
        return $changes.withLock { changes in
            changes.count &+= 1
            // Who does not use the link has no handles.
            if !isHeld { changes.known = changes.count }
            return changes.count
        }
    }

    /// The application is being told of a change, on its queue.
    func tellsChange(_ number: UInt32) { $changes.withLock { $0.known = number } }

    /// The link is gone, or no longer wanted.
    func end() {
        user = nil
        pipes.close()
        for item in line.removeAll() {
            if case .command(_, _, let hasCredit) = item.kind { drop(hasCredit: hasCredit) }
        }
    }
}
