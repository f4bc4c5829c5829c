import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothUsers
import Synchronization

/// One manager's use of a link to a peer: its calls, and the values it receives. The host carries out the calls in
/// order.
final class PeripheralLink: ManagedLink, @unchecked Sendable {
    // Unchecked: like its superclass, or atomic, or guarded.

    let isOutgoing: Bool
    /// The session that uses the link, from the delivery of the connection until its end.
    var user: PeripheralSession? {
        get { guardedUser.wrappedValue }
        set { guardedUser.wrappedValue = newValue }
    }
    // A constant, because each access of a guarded variable retains and releases its guard.
    private let guardedUser = Guarded<PeripheralSession?>(wrappedValue: nil)

    /// Whether this manager has connected over the link. Behind the lock of the session, like the properties below.
    var isHeld = false
    /// The peer's services; nil until they are known.
    var services: Set<BluetoothUUID>?
    /// The value handles of the characteristics whose values the application receives. Other values belong to a
    /// subscription of an earlier connection, which the peer keeps with the bond, or were sent without a subscription.
    /// Not a set: there are few, and each value is looked up.
    // Only read or replaced as a whole: such accesses of a private property need no check for exclusive access.
    private var subscriptions: [AttributeHandle] = []
    /// The subscriptions that the peer has confirmed.
    private var confirmed: Set<AttributeHandle> = []
    /// The number of changes to the peer's services.
    private var changes: UInt32

    /// The number of changes that the application knows of. It uses old handles until it is notified.
    private let knownChanges: Atomic<UInt32>
    /// The application may still hold the peripheral when the session has stopped.
    private let central: SessionReference<CentralSession>

    /// The number of writes that may wait for a credit, since not every application checks whether it can send.
    private static let limit = 256

    init(
        _ identifier: LinkIdentifier, _ information: LinkInformation, _ attachment: Attachment,
        of central: SessionReference<CentralSession>
    ) {
        self.central = central
        isOutgoing = information.role == .central
        changes = information.serviceChanges
        knownChanges = Atomic(information.serviceChanges)
        super.init(identifier, information.peer, attachment, SendLease(), mtu: information.mtu)
    }

    /// The same link, used again after it was released. Call with the lock of the session held.
    init(anew link: PeripheralLink) {
        central = link.central
        isOutgoing = link.isOutgoing
        services = link.services
        changes = link.changes
        knownChanges = Atomic(link.changes)
        // Earlier writes are still on their way.
        super.init(link.identifier, link.peer, link.attachment, link.lease, mtu: link.mtu, link.pipes)
    }

    // MARK: - Calls

    /// Whether there is a credit for a write without response. If not, `.readyToWrite` follows when several are
    /// available.
    var canWriteCommands: Bool { lease.isAvailable }

    /// Makes the host carry out an operation, after all earlier ones.
    func perform(_ operation: PeripheralOperation) {
        // The host may answer immediately if no request to the peer is needed. An answer from the peer takes longer
        // than this call.
        if operation.subscription != nil { central.session?.waitForCaller() }
        switch operation.call(on: identifier) {
        // If the power cycle is over, no event follows.
        case .success(let kind?):
            attachment.begin(
                .operation(self, operation), kind, knownChanges: knownChanges.load(ordering: .acquiring))
        case .success(nil): answer(operation, .success(.done))
        case .failure(let error): answer(operation, .failure(error))
        }
    }

    /// Ends an operation with a known result, after all earlier operations.
    private func answer(_ operation: PeripheralOperation, _ answer: Result<CallResult, HostError>) {
        central.session?.waitForCaller()
        attachment.begin(
            .answered(self, operation, answer), .awaitTurn(identifier),
            knownChanges: knownChanges.load(ordering: .acquiring))
    }

    /// Writes a value without response, after all earlier operations. False if it is dropped because too many wait.
    func writeCommand(_ value: [UInt8], to handle: AttributeHandle) -> Bool {
        guard lease.take(owing: Self.limit) else { return false }
        attachment.post(
            .writeWithoutResponse(identifier, handle, value), knownChanges: knownChanges.load(ordering: .acquiring))
        return true
    }

    // MARK: - Events, with the lock of the session held

    /// An operation has ended.
    ///
    /// - Returns: whether this is another subscription to a characteristic that already has one.
    func operationEnded(_ operation: PeripheralOperation, _ result: Result<CallResult, HostError>) -> Bool {
        guard let (characteristic, isEnabled) = operation.subscription else { return false }
        let handle = characteristic.handle
        switch (result, isEnabled) {
        case (.success, true):
            subscribe(to: handle)
            return !confirmed.insert(handle).inserted
        case (.success, false): confirmed.remove(handle)
        case (.failure, true): if confirmed.contains(handle) { return false }
        case (.failure, false): return false
        }
        subscriptions = subscriptions.filter { $0 != handle }
        return false
    }

    private func subscribe(to handle: AttributeHandle) {
        if !wantsValues(at: handle) { subscriptions = subscriptions + [handle] }
    }

    /// A subscription has begun: the request was sent to the peer. Values may come before its response.
    func subscriptionBegan(_ operation: PeripheralOperation) {
        if let (characteristic, _) = operation.subscription { subscribe(to: characteristic.handle) }
    }

    /// Whether the application has subscribed to a value.
    func wantsValues(at handle: AttributeHandle) -> Bool {
        let subscriptions = subscriptions
        return subscriptions.contains(handle)
    }

    /// Some writes without response were sent. True if the application had to wait and may now continue.
    func credited(_ count: Int) -> Bool { lease.add(count, wakingAt: Self.readyCount) }

    /// Returns the number of the change.
    func servicesChanged(in handles: ClosedRange<AttributeHandle>) -> UInt32 {
        subscriptions = subscriptions.filter { !handles.contains($0) }
        confirmed = confirmed.filter { !handles.contains($0) }
        changes &+= 1
        // An application that does not use the link has no handles.
        if !isHeld { knownChanges.store(changes, ordering: .releasing) }
        return changes
    }

    // MARK: - The application's queue

    /// The application is being notified of a change.
    func tellsChange(_ number: UInt32) { knownChanges.store(number, ordering: .releasing) }

    /// The link has ended or was released.
    func end() {
        user = nil
        pipes.close()
    }
}
