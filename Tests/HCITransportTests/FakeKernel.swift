import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI
import Synchronization

@testable import HCITransport

let hci0 = AdapterInformation(index: 0, address: address("00:AA:01:00:00:42"), bus: .usb, state: .up)
let hci2 = AdapterInformation(index: 2, address: address("00:AA:01:01:00:43"), bus: .uart, state: .up)

extension AdapterInformation {
    /// This adapter, in another state.
    func with(_ state: State) -> AdapterInformation {
        var adapter = self
        adapter.state = state
        return adapter
    }
}

/// A simulated kernel with Bluetooth, as far as opening an adapter needs it.
final class FakeKernel: Sendable {
    struct State {
        var adapters: [AdapterInformation]
        /// The holders of user channels.
        var held: Set<UInt16> = []
        /// Adapters that the kernel is still setting up.
        var initializing: Set<UInt16> = []
        /// Whether something starts to bring an adapter up as soon as it is queried.
        var startsUnseen = false
        /// How many times something brings an adapter up as soon as it has been brought down.
        var risings = 0
        /// Calls that fail, and their errors.
        var failing: [String: Int32] = [:]
        var switches: [RadioSwitch] = []
        /// Whether the kernel says which adapters it manages.
        var saysManaged = true
        var executable: String? = "/opt/ble"
        var calls: [String] = []
    }

    let state: Mutex<State>
    /// The packets of the user channel.
    let channel: ScriptedSocket
    private let records: String?
    /// Called while an adapter is being brought up.
    private let bringingUp: @Sendable () -> Void

    init(
        adapters: [AdapterInformation] = [hci0], channel: ScriptedSocket = ScriptedSocket(), records: Directory? = nil,
        _ change: (inout State) -> Void = { _ in }, bringingUp: @escaping @Sendable () -> Void = {}
    ) {
        var state = State(adapters: adapters)
        change(&state)
        self.state = Mutex(state)
        self.channel = channel
        self.records = records?.path
        self.bringingUp = bringingUp
    }

    var calls: [String] { state.withLock { $0.calls } }

    func open(_ selector: AdapterSelector = .index(0)) throws(TransportError) -> PacketTransport {
        try HCIAdapter.open(selector, calls: adapterCalls, socketCalls: socketCalls)
    }

    var socketCalls: SocketCalls {
        var calls = channel.calls
        calls.close = { [close = calls.close] descriptor in
            close(descriptor)
            self.release(UInt16(descriptor - 200))
        }
        return calls
    }

    private func release(_ index: UInt16) {
        state.withLock { state in
            state.calls.append("release \(index)")
            state.held.remove(index)
            state.set(index, .down)
        }
    }

    private func record<Result>(
        _ call: String, _ body: (inout State) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try state.withLock { state throws(Errno) in
            state.calls.append(call)
            if let code = state.failing[call] { throw Errno(code) }
            return try body(&state)
        }
    }

    var adapterCalls: AdapterCalls {
        AdapterCalls(
            openControl: { () throws(Errno) in try self.record("socket") { _ in 100 } },
            indices: { (_) throws(Errno) in self.state.withLock { $0.adapters.map(\.index) } },
            information: { (_, index) throws(Errno) in
                try self.state.withLock { state throws(Errno) in
                    guard let adapter = state.adapters.first(where: { $0.index == index }) else { throw Errno(ENODEV) }
                    // The kernel reports that it is up, but not who brought it up.
                    return state.held.contains(index) ? adapter.with(.up) : adapter
                }
            },
            bringUp: { (_, index) throws(Errno) in
                self.bringingUp()
                try self.record("up \(index)") { $0.set(index, .up) }
            },
            bringDown: { (_, index) throws(Errno) in
                try self.record("down \(index)") { state throws(Errno) in
                    if state.held.contains(index) { throw Errno(EBUSY) }
                    state.set(index, state.risings > 0 ? .up : .down)
                    state.risings -= 1
                }
            },
            openUserChannel: { (index) throws(Errno) in
                try self.record("bind \(index)") { state throws(Errno) in
                    if state.startsUnseen {
                        state.startsUnseen = false
                        state.set(index, .initializing)
                    }
                    let isUp = state.adapters.contains { $0.index == index && $0.state != .down }
                    if isUp || state.held.contains(index) || state.initializing.contains(index) { throw Errno(EBUSY) }
                    state.held.insert(index)
                    return 200 + Int32(index)
                }
            },
            close: { descriptor in self.state.withLock { $0.calls.append("close \(descriptor)") } },
            managedIndices: {
                self.state.withLock {
                    $0.saysManaged ? Set($0.adapters.map(\.index)).subtracting($0.held.union($0.initializing)) : nil
                }
            },
            switches: { self.state.withLock { $0.switches } },
            recordDirectories: { self.records.map { [$0] } ?? [] },
            executable: { self.state.withLock { $0.executable } })
    }
}

extension FakeKernel.State {
    fileprivate mutating func set(_ index: UInt16, _ state: AdapterInformation.State) {
        if let position = adapters.firstIndex(where: { $0.index == index }) { adapters[position].state = state }
    }
}
