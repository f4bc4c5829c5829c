import CoreBluetooth
import CoreBluetoothTesting
import Testing

@Suite(.timeLimit(.minutes(30)), .radioCapture)
struct ChangeTests {
    private let air = TestRadio(time: .manual)
    private let heart = VirtualService("180D", characteristics: [.init("2A37", [.read, .notify], value: Data([1]))])
    private let battery = VirtualService("180F", characteristics: [.init("2A19", .read, value: Data([99]))])

    @Test func `a connected app is told which services have changed`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", services: [heart, battery])
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of 2A19 -") }
        await air.settle()
        let other = VirtualService("1809", characteristics: [.init("2A1C", .read, value: Data([3]))])
        try await sensor.simulateServiceChange([heart, other])
        try await air.wait { app.characteristic("2A1C") != nil }
        #expect(app.has("modified 180F"))
        #expect(Set(app.peripheral?.services?.map(\.uuid.uuidString) ?? []) == ["180D", "1809"])
        app.read("2A1C")
        app.read("2A37")
        await air.settle()
        #expect(app.has("2A1C is [3] -") && app.has("2A37 is [1] -"))
        // The services that stayed still notify.
        app.subscribe("2A37")
        try await sensor.waitForSubscription(to: "2A37")
        try await sensor.simulateValueUpdate(Data([4]), for: "2A37")
        await air.settle()
        #expect(app.has("2A37 is [4] -"))
        await #expect(throws: CBError.self) { try await sensor.value(of: "2A19") }
    }

    @Test func `a change of services that is refused changes nothing`() async throws {
        let sensor = VirtualPeripheral(name: "Sensor", services: [heart, battery])
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of 2A19 -") }
        await air.settle()
        await #expect(throws: CBError(.invalidParameters)) {
            try await sensor.simulateServiceChange([VirtualService("1809", includedServices: ["18FF"])])
        }
        #expect(try await sensor.value(of: "2A19") == Data([99]))
        try await sensor.simulateServiceChange([heart])
        try await air.wait { app.has("modified 180F") }
        await air.settle()
        #expect(app.peripheral?.services?.map(\.uuid.uuidString) == ["180D"])
        app.read("2A37")
        await air.settle()
        #expect(app.has("2A37 is [1] -"))
    }

    @Test func `an app learns a new name from the next advertisement, and on its next connection`() async throws {
        let sensor = VirtualPeripheral(name: "Old", services: [heart])
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("characteristics -") }
        await air.settle()
        #expect(app.peripheral?.name == "Old")
        try await sensor.simulateNameChange("New")
        let scanner = air.app { Phone(connects: false) }
        try await air.wait {
            scanner.advertisements.contains { $0.data[CBAdvertisementDataLocalNameKey] as? String == "New" }
        }
        try await sensor.simulateDisconnection()
        try await air.wait { app.has("lost CB 7") }
        app.connect(try #require(app.peripheral))
        try await air.wait { app.has("named New") }
        #expect(app.peripheral?.name == "New")
    }
}
