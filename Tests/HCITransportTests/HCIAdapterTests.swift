import CBluetoothHCI
import Glibc
import Synchronization
import Testing

@testable import HCITransport

/// A kernel with Bluetooth in it, as far as opening an adapter goes.
private final class FakeKernel: Sendable {
    private let log = Mutex<[String]>([])
    let adapters: [UInt16: Bool]
    let failing: [String: Int32]

    /// `adapters` tells which are present and whether each is up, `failing` which calls fail and how.
    init(adapters: [UInt16: Bool] = [0: true], failing: [String: Int32] = [:]) {
        self.adapters = adapters
        self.failing = failing
    }

    var calls: [String] { log.withLock { $0 } }

    private func record(_ call: String) throws(Errno) {
        log.withLock { $0.append(call) }
        if let code = failing[call] { throw Errno(code) }
    }

    var adapterCalls: AdapterCalls {
        AdapterCalls(
            openControl: { () throws(Errno) in
                try self.record("socket")
                return 100
            },
            adapters: { (_) throws(Errno) in self.adapters.keys.sorted() },
            isUp: { (_, index) throws(Errno) in
                try self.record("info")
                guard let isUp = self.adapters[index] else { throw Errno(ENODEV) }
                return isUp
            },
            bringUp: { (_, _) throws(Errno) in try self.record("up") },
            bringDown: { (_, _) throws(Errno) in try self.record("down") },
            openUserChannel: { (_) throws(Errno) in
                try self.record("bind")
                return 200
            },
            close: { descriptor in self.log.withLock { $0.append("close \(descriptor)") } },
            executable: { "/opt/ble" })
    }
}

struct HCIAdapterTests {
    @Test("an adapter that is up is brought down for us, and up again after us")
    func restoresAnAdapterThatWasUp() throws {
        let kernel = FakeKernel(), socket = ScriptedSocket()
        let transport = try HCIAdapter.open(index: 0, calls: kernel.adapterCalls, socketCalls: socket.calls)
        #expect(kernel.calls == ["socket", "info", "down", "bind"])
        #expect(transport.name == "hci-socket:0")
        #expect(transport.fileDescriptor == 200)
        transport.close()
        transport.close()
        #expect(socket.closed == [200])
        #expect(kernel.calls == ["socket", "info", "down", "bind", "up", "close 100"])
    }

    @Test("an adapter that is down stays down")
    func leavesAnAdapterThatWasDown() throws {
        let kernel = FakeKernel(adapters: [0: false]), socket = ScriptedSocket()
        try HCIAdapter.open(index: 0, calls: kernel.adapterCalls, socketCalls: socket.calls).close()
        #expect(kernel.calls == ["socket", "info", "bind", "close 100"])
    }

    @Test("forgetting a transport closes it")
    func deinitialisation() throws {
        let kernel = FakeKernel(), socket = ScriptedSocket()
        _ = try HCIAdapter.open(index: 0, calls: kernel.adapterCalls, socketCalls: socket.calls)
        #expect(socket.closed == [200])
        #expect(kernel.calls.suffix(2) == ["up", "close 100"])
    }

    @Test(
        "each refusal of the kernel has its meaning",
        arguments: [
            ("socket", EAFNOSUPPORT, .bluetoothUnavailable),
            ("socket", EPROTONOSUPPORT, .bluetoothUnavailable),
            ("socket", EPERM, .notPermitted(executable: "/opt/ble")),
            ("socket", EMFILE, .system(call: "socket", code: EMFILE)),
            ("down", EPERM, .notPermitted(executable: "/opt/ble")),
            ("down", EACCES, .notPermitted(executable: "/opt/ble")),
            ("down", EBUSY, .adapterInUse),
            ("down", ENODEV, .noSuchAdapter(present: [0])),
            ("bind", EPERM, .notPermitted(executable: "/opt/ble")),
            ("bind", EBUSY, .adapterInUse),
            ("bind", EUSERS, .adapterInUse),
            ("bind", ERFKILL, .adapterBlocked),
            ("bind", ENODEV, .noSuchAdapter(present: [0])),
            ("bind", EINVAL, .system(call: "bind", code: EINVAL)),
        ] as [(String, Int32, TransportError.Reason)])
    func refusals(call: String, code: Int32, expected: TransportError.Reason) {
        let kernel = FakeKernel(failing: [call: code])
        #expect(throws: TransportError(expected, transport: "hci-socket:0")) {
            try HCIAdapter.open(index: 0, calls: kernel.adapterCalls)
        }
        // What was opened is closed, and an adapter that was brought down is up again.
        #expect(kernel.calls.contains("close 100") == (call != "socket"))
        #expect(kernel.calls.contains("up") == (call == "bind"))
    }

    @Test("an adapter that is not there is refused with those that are")
    func noSuchAdapter() {
        let kernel = FakeKernel(adapters: [2: true, 0: false])
        #expect(throws: TransportError(.noSuchAdapter(present: [0, 2]), transport: "hci-socket:1")) {
            try HCIAdapter.open(index: 1, calls: kernel.adapterCalls)
        }
        #expect(kernel.calls == ["socket", "info", "close 100"])
    }

    @Test("an adapter that cannot be restored is closed all the same")
    func restoringFails() throws {
        let kernel = FakeKernel(failing: ["up": ENODEV]), socket = ScriptedSocket()
        try HCIAdapter.open(index: 0, calls: kernel.adapterCalls, socketCalls: socket.calls).close()
        #expect(kernel.calls.suffix(2) == ["up", "close 100"])
    }

    @Test("the adapters present are listed")
    func listing() throws {
        let kernel = FakeKernel(adapters: [1: true, 0: false])
        #expect(try HCIAdapter.present(calls: kernel.adapterCalls) == [0, 1])
        #expect(kernel.calls == ["socket", "close 100"])
    }

    @Test("unplugging is told apart from a stream's end", arguments: [EPIPE, ENODEV, ENETDOWN])
    func unplugged(code: Int32) throws {
        let kernel = FakeKernel(), socket = ScriptedSocket(incoming: [.fails(code)], outgoing: [.fails(code)])
        let transport = try HCIAdapter.open(index: 0, calls: kernel.adapterCalls, socketCalls: socket.calls)
        #expect(reason { () throws(TransportError) in try transport.receive { _ in } } == .adapterRemoved)
        #expect(reason { () throws(TransportError) in try transport.send(reset) } == .adapterRemoved)
    }

    @Test("the real kernel, whatever it offers, gives an answer with a meaning")
    func realKernel() {
        // Adapter 65534 is never there: the answer depends on the kernel and on who we are, but it is no bare number.
        let reason = reason { () throws(TransportError) in _ = try TransportName.hciSocket(index: 65534).open() }
        switch reason {
        case .bluetoothUnavailable, .noSuchAdapter, .notPermitted: break
        default: Issue.record("unexpected answer: \(String(describing: reason))")
        }
    }
}
