import CoreBluetooth
import CoreBluetoothTesting
import Testing

@Suite("The links of a declared peripheral", .timeLimit(.minutes(30)))
struct LinkTests {
    private let air = TestRadio()
    private let sensor = VirtualPeripheral(
        name: "Heart", services: [VirtualService("180D", characteristics: [.init("2A37", .notify)])])

    @Test(
        "A link ends with the error that the test chooses",
        arguments: [(CBError.Code.peripheralDisconnected, "lost, 7"), (.connectionTimeout, "lost, 6")])
    func ends(_ error: CBError.Code, line: String) async throws {
        try await air.add(sensor)
        let app = air.app { Explorer() }
        #expect(await app.next() == "poweredOn")
        _ = await app.explore()
        #expect(sensor.connectionCount == 1)
        try await sensor.simulateDisconnection(error)
        #expect(await app.next() == line)
        // It advertises again.
        _ = await app.explore()
    }

    @Test("An app can join another program's link, but not end it")
    func otherProgram() async throws {
        try await air.add(sensor)
        try await sensor.simulateConnection()
        let app = air.app { Explorer() }
        #expect(await app.next() == "poweredOn")
        app.peripherals = app.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180D")])
        #expect(app.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180F")]).isEmpty)
        let peripheral = try #require(app.peripherals.first)
        #expect(peripheral.state == .disconnected)
        let characteristics = await app.explore(peripheral)
        #expect(characteristics.map(\.uuid) == [CBUUID(string: "2A37")])
        app.manager.cancelPeripheralConnection(peripheral)
        #expect(await app.next() == "lost, -1")
        #expect(sensor.connectionCount == 1)
        try await sensor.simulateDisconnection()
        #expect(sensor.connectionCount == 0)
    }

    @Test("No program can connect while the adapter is off")
    func off() async throws {
        try await air.add(sensor)
        await air.simulatePowerOff()
        await #expect(throws: (any Error).self) { try await sensor.simulateConnection() }
        #expect(sensor.connectionCount == 0)
    }

    @Test("A silent or crashed peripheral is found when it advertises again")
    func silence() async throws {
        let other = VirtualPeripheral(name: "Other", proximity: .immediate)
        try await air.add(sensor)
        sensor.simulateSilence()
        try await air.add(other)
        let app = air.app { Explorer() }
        #expect(await app.next() == "poweredOn")
        app.manager.scanForPeripherals(withServices: nil)
        #expect(await app.next() == "found Other at -40")
        try await sensor.simulateAdvertising()
        while let line = await app.next(), line != "found Heart at -60" {}
        app.manager.stopScan()
        other.simulateSilence()
        sensor.simulateReset()
        sensor.simulateProximityChange(.rssi(-70))
        // With duplicates: the first report may be one from before.
        app.manager.scanForPeripherals(
            withServices: [CBUUID(string: "180D")], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        while let line = await app.next(), line != "found Heart at -70" {}
    }
}
