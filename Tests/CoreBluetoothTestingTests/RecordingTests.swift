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

    @Test func `a document that is wrong is refused, with the member`() {
        let error = #expect(throws: (any Error).self) { try VirtualPeripheral(recording: Data("{}".utf8)) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("services"))
    }
}
