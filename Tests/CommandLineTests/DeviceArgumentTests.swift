import ArgumentParser
import BluetoothLE
import Testing

@testable import BluetoothCommandLine

/// Which controller and which device are meant.
struct DeviceArgumentTests {
    @Test(
        "A device argument is an address if it looks like one, otherwise a name",
        arguments: [
            ("C0:11:22:33:44:55", .address(DeviceAddress(0xC011_2233_4455, kind: .random))),
            ("00:11:22:33:44:55/P", .address(DeviceAddress(0x0011_2233_4455, kind: .public))),
            ("Thermometer", .name("Thermometer")), ("room: kitchen", .name("room: kitchen")), ("2A37", .name("2A37")),
            ("", nil), ("C0:11:22:33:44", nil), ("C0:11:22:33:44:55/X", nil), ("c0:11:22:33:44:5", nil),
        ] as [(String, DeviceSelector?)])
    func device(text: String, expected: DeviceSelector?) {
        #expect(DeviceSelector(argument: text) == expected)
    }

    @Test("A name is escaped so that it cannot control the terminal")
    func deviceText() {
        #expect("\(DeviceSelector.name("a\u{1B}\u{202E}"))" == "\"a\\u{1B}\\u{202E}\"")
    }

    @Test(
        "Without --transport, the environment names the controller, and without that it is the first adapter",
        arguments: [
            (["--transport", "unix-client:a"], "hci-socket:1", "unix-client:a"), ([], "hci-socket:1", "hci-socket:1"),
            ([], "", "hci-socket"), ([], nil, "hci-socket"),
        ] as [([String], String?, String)])
    func transport(arguments: [String], variable: String?, expected: String) throws {
        let options = try TransportOptions.parse(arguments)
        #expect("\(try options.transport(inEnvironment: variable))" == expected)
    }

    @Test(
        "An error in the environment is reported with the variable's name",
        arguments: ["usb:0", "virtual", "tcp-client:a"])
    func environment(variable: String) throws {
        let options = try TransportOptions.parse([])
        let error = #expect(throws: CommandFailure.self) { try options.transport(inEnvironment: variable) }
        #expect(error?.status == .usage)
        #expect(error?.message?.hasPrefix("BLUETOOTH_TRANSPORT: ") == true)
    }
}
