import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers
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
        /// Those whose subscriptions have not begun: values that come now are not theirs.
        var comingListeners: [Listener] = []
        var sessions: [AsyncQueue<ClientEvent>] = []
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
    /// The credits for values that nobody answers, and the calls that wait for one.
    let credits = CreditLine()
    let window = ReceiveWindow()
    private let currentMTU: Atomic<Int>
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

    /// Adds a listener, unless the link has ended. It gets values once its subscription has begun.
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

    /// Removes a listener. False if it was gone.
    func removeListener(_ token: CallToken) -> Bool {
        state.withLock { state in
            let count = state.listeners.count + state.comingListeners.count
            state.listeners.removeAll { $0.token == token }
            state.comingListeners.removeAll { $0.token == token }
            return state.listeners.count + state.comingListeners.count < count
        }
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

    /// Why a value cannot be sent in one piece; nil if it can.
    @inline(__always)
    func refusal(ofLength length: Int) -> BluetoothError? {
        let maximum = mtu - 3
        return length > maximum ? .valueTooLong(maximum: maximum) : nil
    }

    // MARK: - The end

    /// Records the end of the link. Returns what must end with it; nil if it had already ended.
    func end(_ end: End) -> State? {
        state.withLock { state in
            guard state.end == nil else { return nil }
            let old = state
            state = State(
                parameters: old.parameters, phys: old.phys, name: old.name, security: old.security, end: end)
            return old
        }
    }
}
