import CoreBluetooth
import CoreBluetoothTesting
import Testing

/// Firmware that answers for a descriptor.
private final class Firmware: VirtualPeripheralDelegate {
    private(set) var written: [Data] = []

    func peripheral(
        _ peripheral: VirtualPeripheral, valueOf descriptor: CBUUID, of characteristic: CBUUID
    ) throws -> Data {
        guard descriptor == CBUUID(string: "F0D1") else { throw CBATTError(.insufficientResources) }
        return Data([42])
    }

    func peripheral(
        _ peripheral: VirtualPeripheral, didReceive value: Data, for descriptor: CBUUID, of characteristic: CBUUID
    ) throws {
        written.append(value)
    }
}

@Suite(.timeLimit(.minutes(30)), .radioCapture)
struct AttributeTests {
    private let air = TestRadio(time: .manual)

    @Test func `descriptors of every kind are found, read and written`() async throws {
        let firmware = Firmware()
        let sensor = VirtualPeripheral(
            name: "Sensor",
            services: [
                VirtualService(
                    "180D",
                    characteristics: [
                        VirtualCharacteristic(
                            "F001", [.read, .notify, .extendedProperties], value: Data([1]), userDescription: "Room",
                            descriptors: [
                                .extendedProperties(1), .presentationFormat(Data([4, 0, 0, 0x27, 1, 0, 0])),
                                .aggregateFormat(Data([1, 0])), VirtualDescriptor("F0D0", value: Data([9])),
                                VirtualDescriptor("F0D1", isWritable: true), VirtualDescriptor("F0D2"),
                            ])
                    ])
            ], delegate: firmware)
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of F001 -") }
        let descriptors = app.characteristic("F001")?.descriptors ?? []
        #expect(
            Set(descriptors.map(\.uuid.uuidString)) == [
                "2900", "2901", "2902", "2904", "2905", "F0D0", "F0D1", "F0D2",
            ])
        for one in descriptors { app.peripheral?.readValue(for: one) }
        if let one = descriptors.first(where: { $0.uuid.uuidString == "F0D1" }) {
            app.peripheral?.writeValue(Data([5]), for: one)
        }
        await air.settle()
        #expect(app.has("2901 is Room -"))
        #expect(app.has("2900 is 1 -"))
        #expect(descriptors.first { $0.uuid.uuidString == "F0D0" }?.value as? Data == Data([9]))
        #expect(descriptors.first { $0.uuid.uuidString == "F0D1" }?.value as? Data == Data([42]))
        #expect(app.lines.contains { $0.hasPrefix("F0D2") && $0.hasSuffix("ATT 17") })
        #expect(app.has("F0D1 written -") && firmware.written == [Data([5])])
    }

    @Test func `a service includes others, also secondary ones`() async throws {
        let sensor = VirtualPeripheral(
            name: "Sensor",
            services: [
                VirtualService("180D", includedServices: ["180F", "F100"]), VirtualService("180F"),
                VirtualService("F100", isPrimary: false),
            ])
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("included -") }
        let service = app.peripheral?.services?.first { $0.uuid.uuidString == "180D" }
        #expect(service?.includedServices?.map(\.uuid.uuidString) == ["180F", "F100"])
        #expect(app.peripheral?.services?.map(\.uuid.uuidString) == ["180D", "180F"])
    }

    @Test func `a service that includes an unknown one is refused`() async {
        let sensor = VirtualPeripheral(name: nil, services: [VirtualService("180D", includedServices: ["180F"])])
        await #expect(throws: CBError.self) { try await air.add(sensor) }
    }

    @Test(arguments: [VirtualSecurity.none, .encrypted])
    func `a protected value is read after pairing`(security: VirtualSecurity) async throws {
        let characteristic = VirtualCharacteristic("F001", [.read, .write], value: Data([1]), security: security)
        let sensor = VirtualPeripheral(
            name: "Lock", services: [VirtualService("180D", characteristics: [characteristic])])
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of F001 -") }
        app.read("F001")
        app.write(Data([2]), "F001")
        try await air.wait { app.has("F001 written -") }
        #expect(app.has("F001 is [1] -"))
        #expect(try await sensor.value(of: "F001") == Data([2]))
    }

    @Test func `a peripheral that cannot pair refuses a protected value and a protected subscription`() async throws {
        let sensor = VirtualPeripheral(
            name: "Lock",
            services: [
                VirtualService(
                    "180D",
                    characteristics: [
                        VirtualCharacteristic("F001", .read, value: Data([1]), security: .authenticated),
                        VirtualCharacteristic("F002", .notifyEncryptionRequired),
                    ])
            ], pairing: .none)
        try await air.add(sensor)
        let app = air.app { Phone() }
        try await air.wait { app.has("descriptors of F002 -") }
        app.read("F001")
        app.subscribe("F002")
        try await air.wait { app.lines.contains { $0.hasPrefix("F001 is") } }
        try await air.wait { app.lines.contains { $0.hasPrefix("F002 notifies false") } }
        #expect(app.has("F001 is [] ATT 5"))
        #expect(!app.has("F002 notifies false -"))
    }
}
