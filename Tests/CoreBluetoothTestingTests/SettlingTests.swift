import BluetoothBase
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing
import VirtualRadio

/// An app that answers each value it is told by writing it back, and reads what became of that.
private final class EchoApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Unchecked: all of it is used on the queue, or while that is held up or idle.
    let queue = DispatchQueue(label: "echo")
    private var manager: CBCentralManager?
    private var sensor: CBPeripheral?
    private(set) var lines: [String] = []

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        sensor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        lines.append("lost")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for one in service.characteristics ?? [] where one.properties.contains(.notify) {
            peripheral.setNotifyValue(true, for: one)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        guard let value = characteristic.value else { return }
        guard characteristic.properties.contains(.notify) else { return lines.append("read \(value[0])") }
        lines.append("told \(value[0])")
        guard let echo = characteristic.service?.characteristics?.first(where: { $0.properties.contains(.write) })
        else {
            return
        }
        peripheral.writeValue(value, for: echo, type: .withResponse)
        peripheral.readValue(for: echo)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        lines.append("written")
    }
}

/// An app that reads a value again whenever it has received it.
private final class PollingApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Unchecked: all of it is used on the queue.
    private var manager: CBCentralManager?
    private var sensor: CBPeripheral?

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "poll"))
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        sensor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        for one in service.characteristics ?? [] where one.properties.contains(.read) { peripheral.readValue(for: one) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        peripheral.readValue(for: characteristic)
    }
}

@Suite("Waiting until everything has arrived", .timeLimit(.minutes(30)))
struct SettlingTests {
    private let sensor = VirtualPeripheral(
        name: "Sensor",
        services: [
            VirtualService(
                "180D",
                characteristics: [
                    VirtualCharacteristic("F001", .notify),
                    VirtualCharacteristic("F002", [.read, .write], value: Data([0])),
                ]
            )
        ])

    @Test("settle() waits for each value, and for the app's responses to it", arguments: [false, true])
    func chain(isManual: Bool) async throws {
        let air = TestRadio(time: isManual ? .manual : .system)
        try await air.add(sensor)
        let app = air.app { EchoApp() }
        try await sensor.waitForSubscription(to: "F001")
        await air.settle()
        #expect(app.queue.sync { app.lines } == [])
        for number in 1...UInt8(3) { try await sensor.simulateValueUpdate(Data([number]), for: "F001") }
        await air.settle()
        let lines = app.queue.sync { app.lines }
        #expect(lines.filter { $0.hasPrefix("told") } == ["told 1", "told 2", "told 3"])
        #expect(lines.filter { $0.hasPrefix("read") } == ["read 1", "read 2", "read 3"])
        #expect(lines.count { $0 == "written" } == 3)
    }

    @Test("settle() waits for an app whose queue is suspended")
    func heldUp() async throws {
        let air = TestRadio()
        try await air.add(sensor)
        let app = air.app { EchoApp() }
        try await sensor.waitForSubscription(to: "F001")
        app.queue.suspend()
        for number in 1...UInt8(50) { try await sensor.simulateValueUpdate(Data([number]), for: "F001") }
        async let settled: Void = air.settle()
        app.queue.resume()
        await settled
        #expect(app.queue.sync { app.lines.count { $0.hasPrefix("read") } } == 50)
    }

    @Test("settle() waits until the app learns of a disconnection")
    func disconnection() async throws {
        let air = TestRadio()
        try await air.add(sensor)
        let app = air.app { EchoApp() }
        try await sensor.waitForSubscription(to: "F001")
        try await sensor.simulateDisconnection()
        await air.settle()
        #expect(app.queue.sync { app.lines } == ["lost"])
    }

    @Test("settle() records an issue if an app polls, and names what is busy")
    func polling() async throws {
        let air = TestRadio(time: .manual)
        try await air.add(sensor)
        let app = air.app { PollingApp() }
        try await sensor.waitForConnection()
        let start = air.radio.now
        await withKnownIssue {
            await air.settle()
        } matching: { issue in
            let text = issue.comments.map(\.rawValue).joined()
            return text.contains("the app") && text.contains("the peripheral Sensor")
                && issue.sourceLocation?.fileName == "SettlingTests.swift"
        }
        #expect(start.duration(to: air.radio.now) < .seconds(125))
        withExtendedLifetime(app) {}
    }

    @Test("settle() returns when its task is cancelled", arguments: [VirtualRadio.Time.manual, .system])
    func cancelled(time: VirtualRadio.Time) async throws {
        let air = TestRadio(time: time)
        try await air.add(sensor)
        let app = air.app { PollingApp() }
        try await sensor.waitForConnection()
        let settling = Task { await air.settle() }
        settling.cancel()
        await settling.value
        withExtendedLifetime(app) {}
    }

    @Test("settle() returns without managers, and while the adapter is off")
    func nothing() async throws {
        let air = TestRadio()
        await air.settle()
        try await air.add(sensor)
        await air.settle()
        let app = air.app { EchoApp() }
        await air.simulatePowerOff()
        await air.settle()
        #expect(app.queue.sync { app.lines.allSatisfy { $0 == "lost" } })
    }
}
