import BluetoothAdapter
import BluetoothHost
import Synchronization

/// A call of a manager that is under way.
enum PendingCall {
    case scan(UInt64)
    case connect(PeripheralSession)
    case cancel(PeripheralSession)
    case operation(PeripheralLink, PeripheralOperation)
    case rssi(PeripheralLink)
    case publish(ServiceDefinition, isAgain: Bool)
    case advertise(WantedAdvertisement, generation: UInt64?)
    case updateParameters(CentralLink)
}

/// A manager as a user of its adapter, for one power cycle: when the adapter goes off all that was asked through this is
/// void, and there is another one for when it is on again.
final class Attachment: AdapterObserver, @unchecked Sendable {
    // Unchecked: what changes is atomic or guarded; pending calls speak of objects of the application, which are passed on
    // to its queue and not looked into here.

    let runner: AdapterRunner
    private weak let session: ManagerSession?
    private let user = Atomic<UInt32>(0)
    private let pending = Guarded(wrappedValue: Pending())

    private struct Pending {
        var calls: [CallToken: PendingCall] = [:]
        var isOver = false
    }

    init(_ runner: AdapterRunner, of session: ManagerSession) {
        self.runner = runner
        self.session = session
    }

    func attach() { user.store(runner.attach(self).number, ordering: .relaxed) }

    func detach() { runner.detach(UserID(number: user.load(ordering: .relaxed))) }

    func receive(_ batch: borrowing EventBatch) {
        if user.load(ordering: .relaxed) == 0 { user.store(batch.user.number, ordering: .relaxed) }
        session?.receive(batch, from: self)
    }

    // MARK: - Calls

    /// Makes a call whose result does not matter.
    func post(_ kind: HostCall.Kind, token: CallToken = .none) {
        runner.post(kind, token: token, from: UserID(number: user.load(ordering: .relaxed)))
    }

    /// Makes a call that ends with an event. False where the power cycle is over, so that none follows.
    func begin(_ call: PendingCall, _ kind: HostCall.Kind, token: CallToken) -> Bool {
        let isRegistered = pending.withLock { pending in
            if !pending.isOver { pending.calls[token] = call }
            return !pending.isOver
        }
        if isRegistered { post(kind, token: token) }
        return isRegistered
    }

    /// The call that has ended.
    func take(_ token: CallToken) -> PendingCall? { pending.withLock { $0.calls.removeValue(forKey: token) } }

    /// The power cycle is over. Returns the calls that nothing has come of, in their order.
    func end() -> [PendingCall] {
        pending.withLock { pending in
            defer { pending = Pending(isOver: true) }
            return pending.calls.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
        }
    }
}
