import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import DequeModule
import Synchronization

/// What the adapter's front keeps for one link. It is kept up to date by what the adapter reports, and read by callers on
/// any thread, so that what can be decided at once is decided without asking the adapter.
final class Link: Sendable {
    /// Who takes the values of a characteristic.
    struct Listener {
        let handle: AttributeHandle
        /// The token of the subscription.
        let token: CallToken
        let queue: AsyncQueue<[UInt8]>
    }

    /// How the link ended.
    struct End {
        let reason: DisconnectReason
        /// What calls throw from then on.
        let error: BluetoothError
    }

    struct State {
        var parameters: CurrentConnectionParameters
        var name: String?
        /// What the peer is subscribed to of ours, by the handles of the values.
        var subscriptions: [AttributeHandle: GATTClientConfiguration] = [:]
        var listeners: [Listener] = []
        var sessions: [AsyncQueue<ClientEvent>] = []
        /// Those who wait for a credit, in their order.
        var senders = Deque<CallToken>()
        var awaitingEnd: [CallToken] = []
        var end: End?
    }

    let identifier: LinkIdentifier
    /// Who the peer is, and the address it uses.
    let peerID: PeerID
    let peer: DeviceAddress
    let role: LinkRole
    let lease = SendLease()
    let window = ReceiveWindow()
    private let currentMTU: Atomic<Int>
    private let senderCount = Atomic<Int>(0)
    let state: Mutex<State>

    init(_ identifier: LinkIdentifier, _ information: LinkInformation, name: String?) {
        self.identifier = identifier
        (peerID, peer, role) = (information.peer, information.address, information.role)
        currentMTU = Atomic(information.mtu)
        state = Mutex(State(parameters: information.parameters, name: name))
    }

    var mtu: Int {
        get { currentMTU.load(ordering: .relaxed) }
        set { currentMTU.store(newValue, ordering: .relaxed) }
    }

    /// The error of calls on a link that has ended; nil while it lives.
    var error: BluetoothError? { state.withLock { $0.end?.error } }

    // MARK: - Receiving

    /// The next one, from an index on, who takes the values of a characteristic.
    @inline(__always)
    func listener(of handle: AttributeHandle, from index: inout Int) -> AsyncQueue<[UInt8]>? {
        state.withLock { state in
            while index < state.listeners.count {
                defer { index += 1 }
                if state.listeners[index].handle == handle { return state.listeners[index].queue }
            }
            return nil
        }
    }

    var sessions: [AsyncQueue<ClientEvent>] { state.withLock { $0.sessions } }

    /// Adds a listener, unless the link has ended.
    func add(_ listener: Listener) throws(BluetoothError) {
        if let error = state.withLock({ state -> BluetoothError? in
            if state.end == nil { state.listeners.append(listener) }
            return state.end?.error
        }) {
            throw error
        }
    }

    /// Takes a listener out. False where it was gone.
    func removeListener(_ token: CallToken) -> Bool {
        state.withLock { state in
            guard let index = state.listeners.firstIndex(where: { $0.token == token }) else { return false }
            state.listeners.remove(at: index)
            return true
        }
    }

    /// Takes out the listeners of the characteristics in some handles.
    func removeListeners(in handles: ClosedRange<AttributeHandle>) -> [Listener] {
        state.withLock { state in
            let removed = state.listeners.filter { handles.contains($0.handle) }
            state.listeners.removeAll { handles.contains($0.handle) }
            return removed
        }
    }

    // MARK: - Sending

    /// Why a value cannot be sent in one piece; nil where it can.
    @inline(__always)
    func refusal(ofLength length: Int) -> BluetoothError? {
        let maximum = mtu - 3
        return length > maximum ? .valueTooLong(maximum: maximum) : nil
    }

    /// Takes a credit, unless somebody waits for one already.
    @inline(__always)
    func takeCredit() -> Bool { senderCount.load(ordering: .relaxed) == 0 && lease.take() }

    /// Lets a call wait for a credit behind those that wait already.
    ///
    /// - Returns: whether it waits; false where there is a credit, which it has now, or the link has ended.
    func enqueue(_ sender: CallToken) -> Bool {
        state.withLock { state in
            guard state.end == nil else { return false }
            if state.senders.isEmpty, lease.take() { return false }
            state.senders.append(sender)
            senderCount.store(state.senders.count, ordering: .relaxed)
            return true
        }
    }

    /// The one who is to have the next credit, where there are both; it has it then.
    func nextSender() -> CallToken? {
        state.withLock { state in
            guard !state.senders.isEmpty, lease.take() else { return nil }
            defer { senderCount.store(state.senders.count, ordering: .relaxed) }
            return state.senders.popFirst()
        }
    }

    // MARK: - The end

    /// Notes the end of the link. Returns what is to be ended with it; nil where it has ended before.
    func end(_ end: End) -> State? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            let old = state
            state = State(parameters: old.parameters, name: old.name, end: end)
            _ = lease.close()
            senderCount.store(0, ordering: .relaxed)
            return old
        }
    }
}
