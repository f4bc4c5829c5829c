import CoreBluetooth
import CoreBluetoothTesting
import Testing

@Suite(.timeLimit(.minutes(30)), .radioCapture)
struct RecordingTests {
    private let document = """
        {"name": "Thermometer", "address": "C0:11:22:33:44:55",
         "advertisement": {"flags": "0x06", "services": ["1809"], "txPower": 4}, "scanResponse": {"name": "Thermo"},
         "services": [{"uuid": "1809", "handle": "0x0020", "characteristics": [
           {"uuid": "2A1C", "properties": ["read", "notify"], "value": "00 6C 01 00 FF",
            "descriptors": [{"uuid": "2901", "text": "Room"}]}]}],
         "notifications": [{"at": 1000, "uuid": "2A1C", "value": "01"}, {"at": 2500, "uuid": "2A1C", "value": "02"}]}
        """

    @Test func `a recorded device has the services, the advertisement and the values of the real one`() async throws {
        let air = TestRadio(time: .manual)
        let thermometer = try VirtualPeripheral(recording: Data(document.utf8))
        try await air.add(thermometer)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of 2A1C -") }
        #expect(app.advertisements.first?.data[CBAdvertisementDataTxPowerLevelKey] as? Int == 4)
        #expect(app.peripheral?.identifier == thermometer.identifier)
        app.read("2A1C")
        app.subscribe("2A1C")
        try await thermometer.waitForSubscription(to: "2A1C")
        await air.settle()
        #expect(app.has("2A1C is [0, 108, 1, 0, 255] -"))
        await air.pass(.seconds(2))
        #expect(app.has("2A1C is [1] -") && !app.has("2A1C is [2] -"))
        await air.pass(.seconds(1))
        #expect(app.has("2A1C is [2] -"))
        // A recording is also a device that a test controls.
        try await thermometer.simulateValueUpdate(Data([9]), for: "2A1C")
        await air.settle()
        #expect(app.has("2A1C is [9] -"))
    }

    @Test func `a recorded device changes its name and its services`() async throws {
        let air = TestRadio(time: .manual)
        let thermometer = try VirtualPeripheral(recording: Data(document.utf8))
        try await air.add(thermometer)
        // The document has no Generic Access, and thus no Device Name.
        try await thermometer.simulateNameChange("New")
        let scanner = air.app { Phone(connects: false) }
        try await air.wait { scanner.advertisements.count > 3 }
        let names = scanner.advertisements.compactMap { $0.data[CBAdvertisementDataLocalNameKey] as? String }
        #expect(Set(names) == ["New"])
        try await thermometer.simulateNameChange(String(repeating: "N", count: 40))
        try await air.wait {
            let name = scanner.advertisements.last?.data[CBAdvertisementDataLocalNameKey] as? String
            return name == String(repeating: "N", count: 29)
        }
        let battery = VirtualService("180F", characteristics: [.init("2A19", .read, value: Data([99]))])
        try await thermometer.simulateServiceChange([battery])
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of 2A19 -") }
        #expect(app.peripheral?.services?.map(\.uuid.uuidString) == ["180F"])
    }

    @Test func `the values of a recording arrive in their order`() async throws {
        let values = (1...60).map { #"{"at": \#(100 + $0), "uuid": "2A1C", "value": "\#($0 + 10)"}"# }
        let document = """
            {"name": "Thermometer",
             "services": [{"uuid": "1809", "characteristics": [{"uuid": "2A1C", "properties": ["notify"]}]}],
             "notifications": [\(values.joined(separator: ", "))]}
            """
        let air = TestRadio(time: .manual)
        let thermometer = try VirtualPeripheral(recording: Data(document.utf8))
        try await air.add(thermometer)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of 2A1C -") }
        app.subscribe("2A1C")
        try await thermometer.waitForSubscription(to: "2A1C")
        await air.pass(.seconds(2))
        // The value is in hexadecimal digits.
        let expected = (11...70).map { "2A1C is [\(UInt8("\($0)", radix: 16) ?? 0)] -" }
        #expect(app.lines.filter { $0.hasPrefix("2A1C is") } == expected)
    }

    @Test func `a document that is wrong is refused, with the member`() {
        let error = #expect(throws: (any Error).self) { try VirtualPeripheral(recording: Data("{}".utf8)) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("services"))
    }
}
