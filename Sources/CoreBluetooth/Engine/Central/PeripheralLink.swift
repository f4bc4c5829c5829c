import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothHost

/// One manager's use of a link to a peer: its calls, and what it receives.
final class PeripheralLink: @unchecked Sendable {
    // Unchecked: mutable state is guarded, or behind the lock of the session.

    let identifier: LinkIdentifier
    let peer: PeerID
    let isOutgoing: Bool
    let attachment: Attachment
    /// The values waiting for the application.
    let window = ReceiveWindow()
    /// The session that uses the link, from the delegate callback on.
    @Guarded var user: PeripheralSession?

    /// Whether this manager has asked for the link. Behind the lock of the session, like the properties below.
    var isHeld = false
    /// Whether values were dropped, which ends the link.
    var isOverrun = false
    /// ATT_MTU, in octets.
    var mtu: Int
    /// The peer's services; nil until they are known.
    var services: Set<BluetoothUUID>?

    private enum Item {
        case command(AttributeHandle, [UInt8])
        case operation(PeripheralOperation)
    }

    private unowned let central: CentralSession
    private let line = CallLine<Item>()
    private let commands: Guarded<WriteCommandBudget>
    /// The subscriptions, by value handle.
    @Guarded private var subscriptions: [AttributeHandle: CallToken] = [:]

    init(
        _ identifier: LinkIdentifier, _ information: LinkInformation, _ attachment: Attachment,
        of central: CentralSession
    ) {
        self.identifier = identifier
        self.attachment = attachment
        self.central = central
        peer = information.peer
        isOutgoing = information.role == .central
        mtu = information.mtu
        commands = Guarded(wrappedValue: WriteCommandBudget())
    }

    /// The same link, used again after it was released.
    init(anew link: PeripheralLink) {
        identifier = link.identifier
        attachment = link.attachment
        central = link.central
        peer = link.peer
        isOutgoing = link.isOutgoing
        (mtu, services) = (link.mtu, link.services)
        // Earlier writes are still in flight.
        commands = link.commands
    }

    // MARK: - Calls

    var canWriteCommands: Bool { !commands.withLock { $0.isFull } }

    /// Makes the host carry out an operation, after all earlier ones.
    func perform(_ operation: PeripheralOperation) {
        line.add(.operation(operation))
        run()
    }

    /// Writes a value without response, after all earlier operations. False if it is dropped.
    func writeCommand(_ value: [UInt8], to handle: AttributeHandle) -> Bool {
        guard commands.withLock({ $0.add() }) else { return false }
        line.add(.command(handle, value))
        run()
        return true
    }

    /// Makes the calls that are possible now.
    func run() { line.run { start($0) } }

    private func start(_ item: Item) -> CallLine<Item>.Step {
        switch item {
        case .command(let handle, let value):
            guard commands.withLock({ $0.takeCredit() }) else { return .blocked }
            attachment.post(.writeWithoutResponse(identifier, handle, value))
            return .goesOn
        case .operation(let operation):
            switch operation.call(on: identifier, subscriptions) {
            case .success(let call?):
                // If the power cycle is over, no event follows.
                _ = attachment.begin(.operation(self, operation), call, token: attachment.runner.makeToken())
                return .waits
            case .success(nil): central.post(.operationEnded(self, operation, .success(.done)))
            case .failure(let error): central.post(.operationEnded(self, operation, .failure(error)))
            }
            return .goesOn
        }
    }

    // MARK: - What happens, on the adapter's thread. `run` follows.

    func operationEnded(_ operation: PeripheralOperation, _ token: CallToken, _ result: Result<CallResult, HostError>) {
        if let (characteristic, isEnabled) = operation.subscription, case .success = result {
            $subscriptions.withLock { $0[characteristic.handle] = isEnabled ? token : nil }
        }
        line.ended()
    }

    /// Some writes without response were sent. True if the application had to wait and may now continue.
    func credited(_ count: Int) -> Bool {
        let isReady = commands.withLock { $0.credit(count) }
        line.resume()
        return isReady
    }

    func servicesChanged(in handles: ClosedRange<AttributeHandle>) {
        $subscriptions.withLock { $0 = $0.filter { !handles.contains($0.key) } }
    }

    /// The link is gone, or no longer wanted.
    func end() {
        user = nil
        let dropped = line.removeAll().count { if case .command = $0 { true } else { false } }
        commands.withLock { $0.drop(dropped) }
    }
}
