import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// Firmware that asks for what it does not keep, and notes what it is told.
private final class Firmware: VirtualPeripheralDelegate {
    var lines: [String] = []

    func peripheral(_ peripheral: VirtualPeripheral, valueOf characteristic: CBUUID) throws -> Data {
        lines.append("read \(characteristic.uuidString)")
        guard characteristic.uuidString == "F002" else { throw CBATTError(.insufficientAuthorization) }
        return Data(0..<200)
    }

    func peripheral(_ peripheral: VirtualPeripheral, didReceive value: Data, for characteristic: CBUUID) throws {
        lines.append("\(value.count) for \(characteristic.uuidString)")
    }

    func peripheral(_ peripheral: VirtualPeripheral, isSubscribed: Bool, to characteristic: CBUUID) {
        lines.append("\(characteristic.uuidString) subscribed: \(isSubscribed)")
    }
}

@Suite("The values of a declared peripheral", .timeLimit(.minutes(30)))
struct ValueTests {
    private let air = TestRadio()

    @Test("Writes change stored values; reads of other values go to the delegate")
    func readAndWritten() async throws {
        let firmware = Firmware()
        let device = VirtualPeripheral(
            name: "Device",
            services: [
                VirtualService(
                    CBUUID(string: "180D"),
                    characteristics: [
                        VirtualCharacteristic("F001", [.read, .write], value: Data([1])),
                        VirtualCharacteristic("F002", [.read, .write]), VirtualCharacteristic("F003", [.read]),
                    ])
            ], delegate: firmware)
        try await air.add(device)
        let app = air.app { Explorer() }
        #expect(await app.next() == "poweredOn")
        let found = await app.explore()
        let peripheral = try #require(app.peripherals.first)
        peripheral.readValue(for: found[0])
        peripheral.writeValue(Data([2, 3]), for: found[0], type: .withResponse)
        peripheral.readValue(for: found[0])
        peripheral.readValue(for: found[2])
        // So long that it goes in parts.
        peripheral.writeValue(Data(count: 512), for: found[1], type: .withResponse)
        peripheral.readValue(for: found[1])
        for line in ["F001 is [1]", "F001 written, 0", "F001 is [2, 3]", "F003 refused, 8", "F002 written, 0"] {
            #expect(await app.next() == line)
        }
        #expect(await app.next() == "F002 is \([UInt8](0..<200))")
        #expect(Array(firmware.lines.prefix(4)) == ["2 for F001", "read F003", "512 for F002", "read F002"])
    }

    @Test("Updates are notified or indicated, and stored", arguments: [CBCharacteristicProperties.notify, .indicate])
    func told(_ way: CBCharacteristicProperties) async throws {
        let firmware = Firmware()
        let device = VirtualPeripheral(
            name: "Device",
            services: [
                VirtualService(
                    "180D", characteristics: [VirtualCharacteristic("F001", [.read, way], value: Data([1]))])
            ],
            delegate: firmware)
        try await air.add(device)
        // Nobody has subscribed.
        try await device.simulateValueUpdate(Data([2]), for: "F001")
        let app = air.app { Explorer() }
        #expect(await app.next() == "poweredOn")
        let found = await app.explore()
        let peripheral = try #require(app.peripherals.first)
        peripheral.readValue(for: found[0])
        peripheral.setNotifyValue(true, for: found[0])
        try await device.waitForSubscription(to: "F001")
        try await device.waitForSubscription(to: CBUUID(string: "F001"))
        #expect(await app.next() == "F001 is [2]")
        #expect(await app.next() == "F001 notifies: true")
        for number in 3..<20 as Range<UInt8> { try await device.simulateValueUpdate(Data([number]), for: "F001") }
        for number in 3..<20 { #expect(await app.next() == "F001 is [\(number)]") }
        peripheral.setNotifyValue(false, for: found[0])
        #expect(await app.next() == "F001 notifies: false")
        peripheral.readValue(for: found[0])
        #expect(await app.next() == "F001 is [19]")
        #expect(firmware.lines == ["F001 subscribed: true", "F001 subscribed: false"])
        await #expect(throws: CBError.self) { try await device.simulateValueUpdate(Data(), for: "F009") }
        await #expect(throws: CBError.self) { try await device.waitForSubscription(to: "F009") }
        let waiting = Task { try await device.waitForSubscription(to: "F001") }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
