import BluetoothBase
import CBluetoothHCI
import Glibc
import Synchronization
import Testing

@testable import HCITransport

/// A kernel with Bluetooth in it, as far as opening an adapter goes.
private final class FakeKernel: Sendable {
    private let log = Mutex<[String]>([])
    let adapters: [AdapterInformation]
    let failing: [String: Int32]

    /// `adapters` tells which are present, `failing` which calls fail and how.
    init(adapters: [AdapterInformation] = [hci0], failing: [String: Int32] = [:]) {
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
            indices: { (_) throws(Errno) in self.adapters.map(\.index) },
            information: { (_, index) throws(Errno) in
                guard let adapter = self.adapters.first(where: { $0.index == index }) else { throw Errno(ENODEV) }
                return adapter
            },
            bringUp: { (_, index) throws(Errno) in try self.record("up \(index)") },
            bringDown: { (_, index) throws(Errno) in try self.record("down \(index)") },
            openUserChannel: { (index) throws(Errno) in
                try self.record("bind \(index)")
                return 200
            },
            close: { descriptor in self.log.withLock { $0.append("close \(descriptor)") } },
            executable: { "/opt/ble" })
    }
}

private let hci0 = AdapterInformation(index: 0, address: address("00:AA:01:00:00:42"), bus: .usb, state: .up)
private let hci2 = AdapterInformation(index: 2, address: address("00:AA:01:01:00:43"), bus: .uart, state: .up)

struct HCIAdapterTests {
    @Test("an adapter that is up is brought down for us, and up again after us")
    func restoresAnAdapterThatWasUp() throws {
        let kernel = FakeKernel(), socket = ScriptedSocket()
        let transport = try HCIAdapter.open(.index(0), calls: kernel.adapterCalls, socketCalls: socket.calls)
        #expect(kernel.calls == ["socket", "down 0", "bind 0"])
        #expect(transport.name == "hci-socket:0")
        #expect(transport.fileDescriptor == 200)
        transport.close()
        transport.close()
        #expect(socket.closed == [200])
        #expect(kernel.calls == ["socket", "down 0", "bind 0", "up 0", "close 100"])
    }

    @Test("an adapter that is down stays down")
    func leavesAnAdapterThatWasDown() throws {
        let kernel = FakeKernel(adapters: [AdapterInformation(index: 0, state: .down)]), socket = ScriptedSocket()
        try HCIAdapter.open(.index(0), calls: kernel.adapterCalls, socketCalls: socket.calls).close()
        #expect(kernel.calls == ["socket", "bind 0", "close 100"])
    }

    @Test("forgetting a transport closes it")
    func deinitialisation() throws {
        let kernel = FakeKernel(), socket = ScriptedSocket()
        _ = try HCIAdapter.open(.index(0), calls: kernel.adapterCalls, socketCalls: socket.calls)
        #expect(socket.closed == [200])
        #expect(kernel.calls.suffix(2) == ["up 0", "close 100"])
    }

    @Test(
        "each refusal of the kernel has its meaning",
        arguments: [
            ("socket", EAFNOSUPPORT, .bluetoothUnavailable),
            ("socket", EPROTONOSUPPORT, .bluetoothUnavailable),
            ("socket", EPERM, .notPermitted(executable: "/opt/ble")),
            ("socket", EMFILE, .system(call: "socket", code: EMFILE)),
            ("down 0", EPERM, .notPermitted(executable: "/opt/ble")),
            ("down 0", EACCES, .notPermitted(executable: "/opt/ble")),
            ("down 0", EBUSY, .adapterInUse),
            ("down 0", ENODEV, .noSuchAdapter(present: [hci0])),
            ("bind 0", EPERM, .notPermitted(executable: "/opt/ble")),
            ("bind 0", EBUSY, .adapterInUse),
            ("bind 0", EUSERS, .adapterInUse),
            ("bind 0", ERFKILL, .adapterBlocked),
            ("bind 0", ENODEV, .noSuchAdapter(present: [hci0])),
            ("bind 0", EINVAL, .system(call: "bind", code: EINVAL)),
        ] as [(String, Int32, TransportError.Reason)])
    func refusals(call: String, code: Int32, expected: TransportError.Reason) {
        let kernel = FakeKernel(failing: [call: code])
        #expect(throws: TransportError(expected, transport: "hci-socket:0")) {
            try HCIAdapter.open(.index(0), calls: kernel.adapterCalls)
        }
        // What was opened is closed, and an adapter that was brought down is up again.
        #expect(kernel.calls.contains("close 100") == (call != "socket"))
        #expect(kernel.calls.contains("up 0") == (call == "bind 0"))
    }

    @Test("an adapter that is not there is refused with those that are")
    func noSuchAdapter() {
        let kernel = FakeKernel(adapters: [hci2, hci0])
        #expect(throws: TransportError(.noSuchAdapter(present: [hci0, hci2]), transport: "hci-socket:1")) {
            try HCIAdapter.open(.index(1), calls: kernel.adapterCalls)
        }
        #expect(kernel.calls == ["socket", "close 100"])
    }

    @Test("an adapter that cannot be restored is closed all the same")
    func restoringFails() throws {
        let kernel = FakeKernel(failing: ["up 0": ENODEV]), socket = ScriptedSocket()
        try HCIAdapter.open(.index(0), calls: kernel.adapterCalls, socketCalls: socket.calls).close()
        #expect(kernel.calls.suffix(2) == ["up 0", "close 100"])
    }

    @Test("the adapters present are listed")
    func listing() throws {
        let kernel = FakeKernel(adapters: [hci2, hci0])
        #expect(try HCIAdapter.list(calls: kernel.adapterCalls) == [hci0, hci2])
        #expect(kernel.calls == ["socket", "close 100"])
    }

    @Test(
        "an adapter is found by number, by address, or as the first, and can be found again by its address",
        arguments: [
            (.index(2), "hci-socket:2", 2, .hciSocket(.address(address("00:AA:01:01:00:43")))),
            (
                .address(address("00:AA:01:01:00:43")), "hci-socket:00:AA:01:01:00:43", 2,
                .hciSocket(.address(address("00:AA:01:01:00:43")))
            ),
            (.first, "hci-socket", 0, .hciSocket(.address(address("00:AA:01:00:00:42")))),
            (.index(3), "hci-socket:3", 3, nil),
        ] as [(AdapterSelector, String, UInt16, TransportName?)])
    func selecting(selector: AdapterSelector, name: String, index: UInt16, reopening: TransportName?) throws {
        let kernel = FakeKernel(adapters: [hci2, AdapterInformation(index: 3), hci0]), socket = ScriptedSocket()
        let transport = try HCIAdapter.open(selector, calls: kernel.adapterCalls, socketCalls: socket.calls)
        #expect(kernel.calls.last == "bind \(index)")
        #expect(transport.name == name)
        #expect(transport.reopeningName == reopening)
    }

    @Test("unplugging is told apart from a stream's end", arguments: [EPIPE, ENODEV, ENETDOWN])
    func unplugged(code: Int32) throws {
        let kernel = FakeKernel(), socket = ScriptedSocket(incoming: [.fails(code)], outgoing: [.fails(code)])
        let transport = try HCIAdapter.open(.index(0), calls: kernel.adapterCalls, socketCalls: socket.calls)
        #expect(reason { () throws(TransportError) in try transport.receive { _ in } } == .adapterRemoved)
        #expect(reason { () throws(TransportError) in try transport.send(reset) } == .adapterRemoved)
    }

    @Test("the real kernel, whatever it offers, gives an answer with a meaning")
    func realKernel() {
        // Adapter 65534 is never there: the answer depends on the kernel and on who we are, but it is no bare number.
        let reason = reason { () throws(TransportError) in _ = try TransportName.hciSocket(.index(65534)).open() }
        switch reason {
        case .bluetoothUnavailable, .noSuchAdapter, .notPermitted: break
        default: Issue.record("unexpected answer: \(String(describing: reason))")
        }
    }
}
