import BluetoothAdapter
import BluetoothHost
import BluetoothUsers
import Synchronization

/// A pending call of a manager.
// Rare and large cases are indirect, so that the others are small.
enum PendingCall {
    case scan(UInt64)
    case connect(PeripheralSession)
    case cancel(PeripheralSession)
    case operation(PeripheralLink, PeripheralOperation)
    /// An operation whose result is known without the peer. The call only waits for the earlier ones.
    indirect case answered(PeripheralLink, PeripheralOperation, Result<CallResult, HostError>)
    case rssi(PeripheralLink)
    indirect case publish(ServiceDefinition, isAgain: Bool)
    indirect case advertise(WantedAdvertisement, generation: UInt64?)
    case updateParameters(CentralLink)
    case publishChannel
}

/// Receives batches of events, on the adapter's thread: the session of a central or peripheral manager.
protocol BatchRecipient: AnyObject, Sendable {
    func receive(_ batch: borrowing EventBatch, from attachment: Attachment)
}

/// A manager as a user of its adapter, for one power cycle. Once the adapter is off, calls made through this attachment
/// have no effect. When the adapter is on again, the manager gets a new attachment.
final class Attachment: AdapterObserver, @unchecked Sendable {
    // Unchecked: mutable state is atomic or guarded. Pending calls refer to objects of the application, which are only
    // passed on to its queue.

    let runner: AdapterRunner
    private let recipient: SessionReference<any BatchRecipient>
    private let user = Atomic<UInt32>(0)
    private let pending = Guarded(wrappedValue: Pending())

    private struct Pending {
        var tokens = CallSlots()
        var calls: [PendingCall?] = []
        var isOver = false

        mutating func add(_ call: PendingCall) -> CallToken {
            let (slot, token) = tokens.add()
            if slot == calls.count { calls.append(call) } else { calls[slot] = call }
            return token
        }

        mutating func remove(_ slot: Int) -> PendingCall? {
            tokens.remove(slot)
            return calls[slot].take()
        }
    }

    init(_ runner: AdapterRunner, of recipient: SessionReference<any BatchRecipient>) {
        self.runner = runner
        self.recipient = recipient
    }

    func attach() { user.store(runner.attach(self).number, ordering: .relaxed) }

    func detach() { runner.detach(UserID(number: user.load(ordering: .relaxed))) }

    func receive(_ batch: borrowing EventBatch) {
        if user.load(ordering: .relaxed) == 0 { user.store(batch.user.number, ordering: .relaxed) }
        recipient.session?.receive(batch, from: self)
    }

    // MARK: - Calls

    /// Makes a call whose result does not matter.
    ///
    /// - Parameter knownChanges: see `HostCall.knownChanges`.
    func post(_ kind: consuming HostCall.Kind, token: CallToken = .none, knownChanges: UInt32? = nil) {
        let user = UserID(number: user.load(ordering: .relaxed))
        runner.post(kind, token: token, from: user, knownChanges: knownChanges)
    }

    /// Makes a call that ends with an event. False if the power cycle is over: then no event follows.
    @discardableResult
    func begin(
        _ call: @autoclosure () -> PendingCall, _ kind: consuming HostCall.Kind, knownChanges: UInt32? = nil
    ) -> Bool {
        guard let token = register(call()) else { return false }
        post(kind, token: token, knownChanges: knownChanges)
        return true
    }

    /// Registers a call that the caller posts with the returned token. Returns nil if the power cycle is over: then no
    /// event follows.
    // Made in place: copying a call costs more than adding it.
    func register(_ call: @autoclosure () -> PendingCall) -> CallToken? {
        pending.withLock { pending in pending.isOver ? nil : pending.add(call()) }
    }

    /// Removes and returns a call that has ended.
    func take(_ token: CallToken) -> PendingCall? {
        pending.withLock { pending in pending.tokens.slot(of: token).flatMap { pending.remove($0) } }
    }

    /// A pending call.
    func call(_ token: CallToken) -> PendingCall? {
        pending.withLock { pending in pending.tokens.slot(of: token).flatMap { pending.calls[$0] } }
    }

    /// Ends the power cycle. Returns the pending calls, in order.
    func end() -> [PendingCall] {
        pending.withLock { pending in
            pending.isOver = true
            return pending.tokens.inOrder.compactMap { pending.remove($0) }
        }
    }
}
