import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

/// The meaning of each refusal of the kernel, and the state after it.
struct AdapterRefusalTests {
    @Test(
        "each kernel error maps to its own reason",
        arguments: [
            ("socket", EAFNOSUPPORT, .bluetoothUnavailable),
            ("socket", EPROTONOSUPPORT, .bluetoothUnavailable),
            ("socket", EPERM, .notPermitted(executable: "/opt/ble")),
            ("socket", EMFILE, .system(call: "socket", code: EMFILE)),
            ("down 0", EPERM, .notPermitted(executable: "/opt/ble")),
            ("down 0", EACCES, .notPermitted(executable: "/opt/ble")),
            ("down 0", EBUSY, .adapterHeld(by: nil)),
            ("down 0", ENODEV, .noSuchAdapter(present: [hci0])),
            ("bind 0", EPERM, .notPermitted(executable: "/opt/ble")),
            ("bind 0", ERFKILL, .adapterBlocked(.software)),
            ("bind 0", ENODEV, .noSuchAdapter(present: [hci0.with(.down)])),
            ("bind 0", EINVAL, .system(call: "bind", code: EINVAL)),
        ] as [(String, Int32, TransportError.Reason)])
    func refusals(call: String, code: Int32, expected: TransportError.Reason) {
        let kernel = FakeKernel { $0.failing[call] = code }
        #expect(throws: TransportError(expected, transport: "hci-socket:0")) { try kernel.open() }
        // An adapter that was brought down is up again.
        #expect(kernel.calls.contains("up 0") == (call == "bind 0"))
    }

    @Test("if root is refused, it is in a container, and the error names no file to grant a capability to")
    func root() {
        let kernel = FakeKernel {
            $0.failing["down 0"] = EPERM
            $0.executable = nil
        }
        #expect(throws: TransportError(.notPermitted(executable: nil), transport: "hci-socket:0")) { try kernel.open() }
    }

    @Test("the error for a missing adapter lists the ones present")
    func noSuchAdapter() {
        let kernel = FakeKernel(adapters: [hci2, hci0])
        #expect(throws: TransportError(.noSuchAdapter(present: [hci0, hci2]), transport: "hci-socket:1")) {
            try kernel.open(.index(1))
        }
        #expect(kernel.calls == ["socket", "close 100"])
    }

    @Test(
        "if there is no adapter at all, a machine-wide radio switch is reported as the reason",
        arguments: [
            ([], .noSuchAdapter(present: [])),
            (
                [RadioSwitch(name: "tpacpi_bluetooth_sw", isSoftBlocked: false, isHardBlocked: false)],
                .noSuchAdapter(present: [])
            ),
            (
                [RadioSwitch(name: "tpacpi_bluetooth_sw", isSoftBlocked: true, isHardBlocked: false)],
                .adapterBlocked(.software)
            ),
            (
                [RadioSwitch(name: "dell-bluetooth", isSoftBlocked: true, isHardBlocked: true)],
                .adapterBlocked(.hardware)
            ),
        ] as [([RadioSwitch], TransportError.Reason)])
    func absence(switches: [RadioSwitch], expected: TransportError.Reason) throws {
        let kernel = FakeKernel(adapters: []) { $0.switches = switches }
        for selector in [AdapterSelector.first, .index(0), .address(address("00:AA:01:00:00:42"))] {
            #expect(reason { () throws(TransportError) in _ = try kernel.open(selector) } == expected)
        }
        #expect(try HCIAdapter.absence(calls: kernel.adapterCalls).reason == expected)
    }

    @Test("an adapter's own switch is reported, with its kind")
    func blocked() {
        let kernel = FakeKernel {
            $0.failing["bind 0"] = ERFKILL
            $0.switches = [
                RadioSwitch(name: "hci2", isSoftBlocked: true, isHardBlocked: false),
                RadioSwitch(name: "hci0", isSoftBlocked: false, isHardBlocked: true),
            ]
        }
        #expect(throws: TransportError(.adapterBlocked(.hardware), transport: "hci-socket:0")) { try kernel.open() }
    }
}
