import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers
import Synchronization

/// The state of one link in this API. The adapter's events update it, and callers read it on any thread. Calls that
/// depend on nothing else do not have to wait for the adapter.
final class LinkState: Sendable {
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
        /// The error that calls throw from then on.
        let error: BluetoothError
    }

    struct State {
        var parameters: CurrentConnectionParameters
        var phys: LinkPHYs
        var name: String?
        var security: LinkSecurity
        /// The peer's subscriptions to this device's values.
        var subscriptions = PeerSubscriptions()
        var listeners: [Listener] = []
        /// The listeners whose subscriptions have not begun. They do not receive values yet.
        var comingListeners: [Listener] = []
        fileprivate(set) var sessions: [AsyncQueue<ClientEvent>] = []
        var awaitingEnd: [CallToken] = []
        /// The open L2CAP channels. There are few, so finding one takes less time than hashing its ID.
        var channels: [ChannelStream] = []
        /// The queue for synchronizations that the peer transfers.
        var syncs: AsyncQueue<PeriodicSync>?
        /// The consumers of power reports, by the tokens of their calls.
        var powerWatchers: [CallToken: PowerWatcher] = [:]
        var end: End?

        func channel(_ id: CreditBasedChannel.ID) -> ChannelStream? { channels.first { $0.id == id } }
    }

    let identifier: LinkIdentifier
    let peer: PeerID
    /// The address that the peer uses on the link.
    let address: DeviceAddress
    let role: LinkRole
    /// The credits for unacknowledged values, and the calls that wait for one.
    let credits = CreditLine()
    let window = ReceiveWindow()
    private let currentMTU: Atomic<Int>
    private let changes: Atomic<UInt32>
    /// Whether `State.sessions` is not empty.
    private let isObserved = Atomic(false)
    let state: Mutex<State>

    init(_ identifier: LinkIdentifier, _ information: LinkInformation, name: String?) {
        self.identifier = identifier
        (peer, address, role) = (information.peer, information.address, information.role)
        currentMTU = Atomic(information.mtu)
        changes = Atomic(information.serviceChanges)
        state = Mutex(
            State(
                parameters: information.parameters, phys: information.phys, name: name,
                security: information.security))
    }

    var mtu: Int {
        get { currentMTU.load(ordering: .relaxed) }
        set { currentMTU.store(newValue, ordering: .relaxed) }
    }

    /// The number of changes of the peer's services that callers know of: see `HostCall.knownChanges`.
    var knownChanges: UInt32 { changes.load(ordering: .acquiring) }

    /// The error that calls throw on a link that has ended; nil while the link exists.
    var error: BluetoothError? { state.withLock { $0.end?.error } }

    /// The error to throw for one with which a call on this link has ended. The host has forgotten a link that ended
    /// before the call arrived, so it cannot state the reason.
    func explained(_ error: BluetoothError) -> BluetoothError {
        error == .disconnected(.unknown) || error == .notReady ? self.error ?? error : error
    }

    // MARK: - Receiving

    /// The only receiver of a characteristic's values; nil if there are several or none.
    @inline(__always)
    func soleListener(of handle: AttributeHandle) -> AsyncQueue<[UInt8]>? {
        state.withLock { state in
            guard state.sessions.isEmpty else { return nil }
            var found: AsyncQueue<[UInt8]>?
            for index in state.listeners.indices where state.listeners[index].handle == handle {
                if found != nil { return nil }
                found = state.listeners[index].queue
            }
            return found
        }
    }

    /// The receivers of a characteristic's values: its listeners, and the sessions, which receive the values of all
    /// characteristics.
    func receivers(of handle: AttributeHandle) -> ([AsyncQueue<[UInt8]>], [AsyncQueue<ClientEvent>]) {
        state.withLock { state in (state.listeners.filter { $0.handle == handle }.map(\.queue), state.sessions) }
    }

    var sessions: [AsyncQueue<ClientEvent>] { state.withLock { $0.sessions } }

    /// Whether there are sessions, without locking the state.
    var hasSessions: Bool { isObserved.load(ordering: .relaxed) }

    /// Adds a session, unless the link has ended.
    func add(_ session: AsyncQueue<ClientEvent>) throws(BluetoothError) {
        let error = state.withLock { state -> BluetoothError? in
            guard state.end == nil else { return state.end?.error }
            state.sessions.append(session)
            isObserved.store(true, ordering: .relaxed)
            return nil
        }
        if let error { throw error }
    }

    func remove(_ session: AsyncQueue<ClientEvent>) {
        state.withLock { state in
            state.sessions.removeAll { $0 === session }
            isObserved.store(!state.sessions.isEmpty, ordering: .relaxed)
        }
    }

    /// Adds a listener, unless the link has ended. It receives values once its subscription has begun.
    func add(_ listener: Listener) throws(BluetoothError) {
        if let error = state.withLock({ state -> BluetoothError? in
            if state.end == nil { state.comingListeners.append(listener) }
            return state.end?.error
        }) {
            throw error
        }
    }

    /// The subscription of a listener has begun.
    func beginListening(_ token: CallToken) {
        state.withLock { state in
            guard let index = state.comingListeners.firstIndex(where: { $0.token == token }) else { return }
            state.listeners.append(state.comingListeners.remove(at: index))
        }
    }

    /// All listeners, whether their subscriptions have begun or not.
    var allListeners: [Listener] { state.withLock { $0.listeners + $0.comingListeners } }

    /// Removes a listener. Returns false if it has already been removed.
    func removeListener(_ token: CallToken) -> Bool {
        state.withLock { state in
            let count = state.listeners.count + state.comingListeners.count
            state.listeners.removeAll { $0.token == token }
            state.comingListeners.removeAll { $0.token == token }
            return state.listeners.count + state.comingListeners.count < count
        }
    }

    /// Records a change of the peer's services in some handles. Callers know of it from now on.
    ///
    /// - Returns: the listeners that end with it.
    func servicesChanged(in handles: ClosedRange<AttributeHandle>) -> [Listener] {
        changes.wrappingAdd(1, ordering: .releasing)
        return removeListeners(in: handles)
    }

    /// Removes the listeners of the characteristics in some handles.
    func removeListeners(in handles: ClosedRange<AttributeHandle>) -> [Listener] {
        state.withLock { state in
            let removed = (state.listeners + state.comingListeners).filter { handles.contains($0.handle) }
            state.listeners.removeAll { handles.contains($0.handle) }
            state.comingListeners.removeAll { handles.contains($0.handle) }
            return removed
        }
    }

    // MARK: - Sending

    /// The reason why a value cannot be sent in one PDU; nil if it can.
    @inline(__always)
    func refusal(ofLength length: Int) -> BluetoothError? {
        let maximum = mtu - 3
        return length > maximum ? .valueTooLong(maximum: maximum) : nil
    }

    // MARK: - The end

    /// Records the end of the link. Returns the state that must end with it; nil if the link had already ended.
    func end(_ end: End) -> State? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            let old = state
            state = State(
                parameters: old.parameters, phys: old.phys, name: old.name, security: old.security, end: end)
            isObserved.store(false, ordering: .relaxed)
            return old
        }
    }
}
