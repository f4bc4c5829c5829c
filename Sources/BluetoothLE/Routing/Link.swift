import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP
import DequeModule
import Synchronization

/// The state of one link in this API. The adapter's events update it, and callers read it on any thread. Calls that can
/// be decided at once then need not ask the adapter.
final class Link: Sendable {
    /// A listener to the values of a characteristic.
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
        var phys: LinkPHYs
        var name: String?
        var security: LinkSecurity
        /// The peer's subscriptions to our values, by value handle.
        var subscriptions: [AttributeHandle: GATTClientConfiguration] = [:]
        var listeners: [Listener] = []
        var sessions: [AsyncQueue<ClientEvent>] = []
        /// The calls waiting for a credit, in order, and the attribute of the peer that each will write; nil for none.
        var senders = Deque<(token: CallToken, target: AttributeHandle?)>()
        var awaitingEnd: [CallToken] = []
        /// The L2CAP channels that are open.
        var channels: [CreditBasedChannel.ID: ChannelStream] = [:]
        /// Where the periodic advertising goes of which the peer tells.
        var syncs: AsyncQueue<PeriodicSync>?
        /// Who watches the power on the link, by the tokens of their calls.
        var powerWatchers: [CallToken: PowerWatcher] = [:]
        var end: End?
    }

    let identifier: LinkIdentifier
    /// The peer's identity, and the address it uses.
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
        state = Mutex(
            State(
                parameters: information.parameters, phys: information.phys, name: name,
                security: information.security))
    }

    var mtu: Int {
        get { currentMTU.load(ordering: .relaxed) }
        set { currentMTU.store(newValue, ordering: .relaxed) }
    }

    /// The error of calls on a link that has ended; nil while it lives.
    var error: BluetoothError? { state.withLock { $0.end?.error } }

    // MARK: - Receiving

    /// The next listener, from an index on, to the values of a characteristic.
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

    /// Removes a listener. False if it was gone.
    func removeListener(_ token: CallToken) -> Bool {
        state.withLock { state in
            guard let index = state.listeners.firstIndex(where: { $0.token == token }) else { return false }
            state.listeners.remove(at: index)
            return true
        }
    }

    /// Removes the listeners of the characteristics in some handles.
    func removeListeners(in handles: ClosedRange<AttributeHandle>) -> [Listener] {
        state.withLock { state in
            let removed = state.listeners.filter { handles.contains($0.handle) }
            state.listeners.removeAll { handles.contains($0.handle) }
            return removed
        }
    }

    /// Removes the calls that wait to write attributes in some handles.
    func removeSenders(in handles: ClosedRange<AttributeHandle>) -> [CallToken] {
        state.withLock { state in
            let isMeant = { (target: AttributeHandle?) in target.map { handles.contains($0) } ?? false }
            let removed = state.senders.filter { isMeant($0.target) }
            state.senders.removeAll { isMeant($0.target) }
            senderCount.store(state.senders.count, ordering: .relaxed)
            return removed.map(\.token)
        }
    }

    // MARK: - Sending

    /// Why a value cannot be sent in one piece; nil if it can.
    @inline(__always)
    func refusal(ofLength length: Int) -> BluetoothError? {
        let maximum = mtu - 3
        return length > maximum ? .valueTooLong(maximum: maximum) : nil
    }

    /// Takes a credit, unless a call already waits for one.
    @inline(__always)
    func takeCredit() -> Bool { senderCount.load(ordering: .relaxed) == 0 && lease.take() }

    /// Queues a call for a credit.
    ///
    /// - Returns: whether it waits; false if it got a credit, or the link has ended.
    func enqueue(_ sender: CallToken, for target: AttributeHandle?) -> Bool {
        state.withLock { state in
            guard state.end == nil else { return false }
            if state.senders.isEmpty, lease.take() { return false }
            state.senders.append((sender, target))
            senderCount.store(state.senders.count, ordering: .relaxed)
            return true
        }
    }

    /// Gives the next credit to the next waiting call, if there are both. Returns that call.
    func nextSender() -> CallToken? {
        state.withLock { state in
            guard !state.senders.isEmpty, lease.take() else { return nil }
            defer { senderCount.store(state.senders.count, ordering: .relaxed) }
            return state.senders.popFirst()?.token
        }
    }

    // MARK: - The end

    /// Records the end of the link. Returns what must end with it; nil if it had already ended.
    func end(_ end: End) -> State? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            let old = state
            state = State(
                parameters: old.parameters, phys: old.phys, name: old.name, security: old.security, end: end)
            _ = lease.close()
            senderCount.store(0, ordering: .relaxed)
            return old
        }
    }
}
