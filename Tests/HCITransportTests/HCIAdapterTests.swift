import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

struct HCIAdapterTests {
    @Test("an adapter that is up is brought down, and brought up again when the transport closes")
    func restoresAnAdapterThatWasUp() throws {
        let kernel = FakeKernel()
        let transport = try kernel.open()
        #expect(kernel.calls == ["socket", "down 0", "bind 0"])
        #expect(transport.name == "hci-socket:0")
        #expect(transport.fileDescriptor == 200)
        transport.close()
        transport.close()
        #expect(kernel.channel.closed == [200])
        #expect(kernel.calls.dropFirst(3).prefix(2) == ["release 0", "up 0"])
    }

    @Test("an adapter that is down stays down")
    func leavesAnAdapterThatWasDown() throws {
        let kernel = FakeKernel(adapters: [hci0.with(.down)])
        try kernel.open().close()
        #expect(kernel.calls == ["socket", "bind 0", "release 0", "close 100"])
    }

    @Test("releasing a transport closes it")
    func deinitialisation() throws {
        let kernel = FakeKernel()
        _ = try kernel.open()
        #expect(kernel.channel.closed == [200])
        #expect(kernel.calls.contains("up 0"))
    }

    @Test("an adapter that is brought up again in the meantime is brought down again, a few times", arguments: 0...3)
    func risingAdapter(risings: Int) throws {
        let kernel = FakeKernel { $0.risings = risings }
        let attempts = min(risings + 1, TakenAdapter.attempts)
        do throws(TransportError) {
            _ = try kernel.open()
            #expect(risings < TakenAdapter.attempts)
        } catch {
            #expect(error.reason == .adapterBroughtUp)
            #expect(risings == TakenAdapter.attempts)
        }
        let once = ["down 0", "bind 0"]
        #expect(kernel.calls.filter(once.contains) == Array(repeating: once, count: attempts).flatMap { $0 })
    }

    @Test("an adapter that is being brought up is brought down once it is up", arguments: [true, false])
    func starting(isSeen: Bool) throws {
        let kernel = FakeKernel(adapters: [hci0.with(isSeen ? .initializing : .down)]) { $0.startsUnseen = !isSeen }
        try kernel.open().close()
        let steps = kernel.calls.filter(["down 0", "bind 0"].contains)
        #expect(steps == (isSeen ? ["down 0", "bind 0"] : ["bind 0", "down 0", "bind 0"]))
        #expect(kernel.calls.contains("up 0") == isSeen)
    }

    @Test("an adapter that is being set up is not brought down", arguments: [true, false])
    func initializing(saysManaged: Bool) {
        let kernel = FakeKernel(adapters: [hci0.with(.initializing)]) {
            $0.initializing = [0]
            $0.saysManaged = saysManaged
        }
        #expect(throws: TransportError(.adapterInitializing, transport: "hci-socket:0")) { try kernel.open() }
        #expect(kernel.calls == ["socket", "bind 0", "close 100"])
    }

    @Test("an adapter being set up may be the one with the requested address")
    func initializingWithoutAddress() {
        let name = "hci-socket:00:AA:01:00:00:42"
        let kernel = FakeKernel(adapters: [hci2, AdapterInformation(index: 0)]) { $0.initializing = [0] }
        #expect(throws: TransportError(.adapterInitializing, transport: name)) {
            try kernel.open(.address(address("00:AA:01:00:00:42")))
        }
    }

    @Test("an adapter held by another user channel is not touched", arguments: [true, false])
    func held(saysManaged: Bool) {
        let kernel = FakeKernel {
            $0.held = [0]
            $0.saysManaged = saysManaged
        }
        #expect(throws: TransportError(.adapterHeld(by: nil), transport: "hci-socket:0")) { try kernel.open() }
        // A kernel that does not report its state refuses to bring it down.
        #expect(kernel.calls == (saysManaged ? ["socket"] : ["socket", "down 0"]) + ["close 100"])
    }

    @Test("if two programs take an adapter at the same time, the second one fails")
    func simultaneous() {
        let kernel = FakeKernel { $0.failing["bind 0"] = EUSERS }
        #expect(throws: TransportError(.adapterHeld(by: nil), transport: "hci-socket:0")) { try kernel.open() }
    }

    @Test(
        "an adapter is selected by number, by address or as the first, and is reopened by its address",
        arguments: [
            (.index(2), "hci-socket:2", 2, address("00:AA:01:01:00:43")),
            (.address(address("00:AA:01:01:00:43")), "hci-socket:00:AA:01:01:00:43", 2, address("00:AA:01:01:00:43")),
            (.first, "hci-socket:0", 0, address("00:AA:01:00:00:42")),
            (.index(3), "hci-socket:3", 3, nil),
        ] as [(AdapterSelector, String, UInt16, DeviceAddress?)])
    func selecting(selector: AdapterSelector, name: String, index: UInt16, address: DeviceAddress?) throws {
        let kernel = FakeKernel(adapters: [hci2, AdapterInformation(index: 3), hci0])
        let transport = try kernel.open(selector)
        #expect(kernel.calls.contains("bind \(index)"))
        #expect(transport.name == name)
        #expect(transport.reopeningName == address.map { .hciSocket(.address($0)) })
    }

    @Test(
        "the first adapter is the first usable one",
        arguments: [
            { $0.held = [0] },
            { $0.switches = [RadioSwitch(name: "hci0", isSoftBlocked: true, isHardBlocked: false)] },
            { $0.adapters[0].supportsLowEnergy = false },
            { $0.failing["bind 0"] = ERFKILL },
            { $0.failing["bind 0"] = ENODEV },
        ] as [@Sendable (inout FakeKernel.State) -> Void])
    func firstUsable(change: @Sendable (inout FakeKernel.State) -> Void) throws {
        let kernel = FakeKernel(adapters: [hci0, hci2], change)
        #expect(try kernel.open(.first).name == "hci-socket:2")
    }

    @Test("if no adapter is usable, the error is that of the first; errors common to all are not retried")
    func noneUsable() {
        let held = FakeKernel(adapters: [hci0, hci2]) { $0.held = [0, 2] }
        #expect(throws: TransportError(.adapterHeld(by: nil), transport: "hci-socket:0")) { try held.open(.first) }
        let forbidden = FakeKernel(adapters: [hci0, hci2]) { $0.failing["down 0"] = EPERM }
        #expect(throws: TransportError(.notPermitted(executable: "/opt/ble"), transport: "hci-socket:0")) {
            try forbidden.open(.first)
        }
    }

    @Test("unplugging is distinguished from the end of a stream", arguments: [EPIPE, ENODEV, ENETDOWN])
    func unplugged(code: Int32) throws {
        let kernel = FakeKernel(channel: ScriptedSocket(incoming: [.fails(code)], outgoing: [.fails(code)]))
        let transport = try kernel.open()
        #expect(reason { () throws(TransportError) in try transport.receive { _ in } } == .adapterRemoved)
        #expect(reason { () throws(TransportError) in try transport.send(reset) } == .adapterRemoved)
    }

    @Test("on the real kernel, opening a missing adapter gives a specific error")
    func realKernel() {
        // Adapter 65534 is never there: the answer depends on the kernel and on who we are, but it is no bare number.
        let reason = reason { () throws(TransportError) in _ = try TransportName.hciSocket(.index(65534)).open() }
        switch reason {
        case .bluetoothUnavailable, .noSuchAdapter, .adapterBlocked: break
        default: Issue.record("unexpected answer: \(String(describing: reason))")
        }
    }
}
