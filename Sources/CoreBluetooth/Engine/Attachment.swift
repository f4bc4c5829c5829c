import BluetoothAdapter
import BluetoothHost
import BluetoothUsers
import Synchronization

/// A pending call of a manager.
enum PendingCall {
    case scan(UInt64)
    case connect(PeripheralSession)
    case cancel(PeripheralSession)
    /// - Parameter answer: the result, if the peer is not involved; nil to use the result of the call.
    case operation(PeripheralLink, PeripheralOperation, answer: Result<CallResult, HostError>?)
    case rssi(PeripheralLink)
    case publish(ServiceDefinition, isAgain: Bool)
    case advertise(WantedAdvertisement, generation: UInt64?)
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
        var calls: [CallToken: PendingCall] = [:]
        var isOver = false
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
    func post(_ kind: HostCall.Kind, token: CallToken = .none, knownChanges: UInt32? = nil) {
        let user = UserID(number: user.load(ordering: .relaxed))
        runner.post(kind, token: token, from: user, knownChanges: knownChanges)
    }

    /// Makes a call that ends with an event. False if the power cycle is over: then no event follows.
    func begin(_ call: PendingCall, _ kind: HostCall.Kind, token: CallToken, knownChanges: UInt32? = nil) -> Bool {
        let isRegistered = pending.withLock { pending in
            if !pending.isOver { pending.calls[token] = call }
            return !pending.isOver
        }
        if isRegistered { post(kind, token: token, knownChanges: knownChanges) }
        return isRegistered
    }

    /// Removes and returns a call that has ended.
    func take(_ token: CallToken) -> PendingCall? { pending.withLock { $0.calls.removeValue(forKey: token) } }

    /// A pending call.
    func call(_ token: CallToken) -> PendingCall? { pending.withLock { $0.calls[token] } }

    /// Ends the power cycle. Returns the pending calls, in order.
    func end() -> [PendingCall] {
        pending.withLock { pending in
            defer { pending = Pending(isOver: true) }
            return pending.calls.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
        }
    }
}
