import CoreBluetooth
import CoreBluetoothTesting
import Testing

@Suite(.timeLimit(.minutes(30)), .radioCapture)
struct DeviceTests {
    private let air = TestRadio(time: .manual)
    private let services = [
        VirtualService(
            "180D",
            characteristics: [
                VirtualCharacteristic("F001", [.read, .write], value: Data(0..<100)),
                VirtualCharacteristic("F002", .read, value: Data([1]), security: .encrypted),
            ])
    ]

    private func ready(_ sensor: VirtualPeripheral) async throws -> Phone {
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of F002 -") }
        await air.settle()
        return app
    }

    @Test func `a device has its own ATT_MTU, which a test changes for later connections`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", services: services, mtu: 23)
        let app = try await ready(sensor)
        let peripheral = try #require(app.peripheral)
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == 20)
        app.read("F001")
        await air.settle()
        #expect(app.has("F001 is \([UInt8](0..<100)) -"))
        sensor.simulateMTUChange(100)
        #expect(sensor.mtu == 100)
        try await sensor.simulateDisconnection()
        try await air.wait { app.has("lost CB 7") }
        app.connect(peripheral)
        try await air.wait { app.lines.count { $0 == "connected" } == 2 }
        await air.settle()
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == 97)
        app.write(Data(repeating: 3, count: 200), "F001")
        await air.settle()
        #expect(try await sensor.value(of: "F001") == Data(repeating: 3, count: 200))
    }

    @Test func `a device asks for its connection interval, and for another one later`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", services: services, connectionInterval: .milliseconds(200))
        let app = try await ready(sensor)
        try await air.wait { sensor.connectionInterval == .milliseconds(200) }
        try await sensor.simulateConnectionIntervalChange(.milliseconds(50))
        #expect(sensor.connectionInterval == .milliseconds(50))
        app.manager.cancelPeripheralConnection(try #require(app.peripheral))
        try await sensor.waitForDisconnection()
        #expect(sensor.connectionInterval == nil)
    }

    @Test func `an RSSI varies around that of the distance`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", services: services, proximity: .rssi(-60).varying(by: 10))
        try await air.add(sensor)
        let app = air.app { Phone(connects: false) }
        try await air.wait { app.advertisements.count > 60 }
        let strengths = Set(app.advertisements.map(\.rssi))
        #expect(strengths.count > 5 && strengths.allSatisfy { (-70 ... -50).contains($0) })
        sensor.simulateProximityChange(.rssi(-80))
        await air.settle()
        let count = app.advertisements.count
        try await air.wait { app.advertisements.count > count + 5 }
        #expect(app.advertisements.suffix(3).allSatisfy { $0.rssi == -80 })
    }

    @Test func `the RSSI of a connection varies as well`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", services: services, proximity: .near.varying(by: 5))
        let app = try await ready(sensor)
        for _ in 0..<40 {
            app.peripheral?.readRSSI()
            await air.settle()
        }
        let strengths = Set(app.lines.filter { $0.hasPrefix("rssi") })
        #expect(strengths.count > 3)
    }

    @Test func `a device with rotating addresses becomes another one, until it has paired`() async throws {
        let sensor = VirtualPeripheral(
            name: "Sensor", advertisements: [VirtualAdvertisement(name: "Sensor", interval: .seconds(1))],
            services: services, address: .rotating(every: .seconds(60)))
        let app = try await ready(sensor)
        let scanner = air.app { Phone(connects: false) }
        await air.pass(.seconds(200))
        #expect(Set(scanner.advertisements.map(\.peripheral.identifier)).count >= 3)
        // After pairing, the app's system knows the device, whatever address it uses.
        app.read("F002")
        try await air.wait { app.has("F002 is [1] -") }
        await air.pass(.seconds(61))
        let count = scanner.advertisements.count
        await air.pass(.seconds(200))
        let identifiers = Set(scanner.advertisements[count...].map(\.peripheral.identifier))
        let known = try #require(app.peripheral)
        #expect(identifiers == [known.identifier])
    }

    @Test func `a device with a static random address keeps its identifier`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", services: services, address: .random(0x1234))
        let app = try await ready(sensor)
        #expect(app.peripheral?.identifier == sensor.identifier)
    }

    @Test func `a device keeps its identifier while it restarts`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", services: services)
        try await air.add(sensor)
        let identifier = sensor.identifier
        sensor.simulateReset()
        #expect(sensor.identifier == identifier)
    }

    @Test func `a known peripheral is retrieved although it is silent, and connects when it advertises`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", advertisements: [], services: services)
        try await air.add(sensor)
        let app = air.app { Phone(scans: false) }
        try await air.wait { app.has("poweredOn") }
        let known = app.manager.retrievePeripherals(withIdentifiers: [sensor.identifier])
        #expect(known.map(\.identifier) == [sensor.identifier])
        app.connect(try #require(known.first))
        let happens = try await air.happens(within: .seconds(30)) { try await sensor.waitForConnection() }
        #expect(!happens)
        try await sensor.simulateAdvertising([VirtualAdvertisement()])
        try await air.wait { app.has("connected") }
    }

    @Test func `a peripheral that was connected before keeps its name, and its services until it is disconnected`()
        async throws
    {
        let sensor = VirtualPeripheral(name: "Sensor", services: services)
        let app = try await ready(sensor)
        sensor.simulateSilence()
        await air.pass(.seconds(1))
        #expect(app.peripheral?.services?.map(\.uuid) == [CBUUID(string: "180D")])
        try await sensor.simulateDisconnection()
        try await air.wait { app.has("lost CB 7") }
        let known = app.manager.retrievePeripherals(withIdentifiers: [sensor.identifier])
        #expect(known.first === app.peripheral)
        #expect(known.first?.name == "Sensor" && known.first?.state == .disconnected)
        #expect(known.first?.services == nil)
    }
}
