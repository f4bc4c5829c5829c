import CoreBluetooth

/// An app that does what a test tells it, and keeps what it is told, as lines.
final class Explorer: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    private(set) var manager: CBCentralManager!
    /// The peripherals that were found, and those that the test has retrieved.
    var peripherals: [CBPeripheral] = []
    private let told = AsyncStream<String>.makeStream()
    private var iterator: AsyncStream<String>.Iterator

    override init() {
        iterator = told.stream.makeAsyncIterator()
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "explorer"))
    }

    /// What the app was told next.
    func next() async -> String? { await iterator.next() }

    /// Scans until it has found one, connects, and discovers all of the service 180D.
    func explore() async -> [CBCharacteristic] {
        manager.scanForPeripherals(withServices: nil)
        while let line = await next(), !line.hasPrefix("found") {}
        manager.stopScan()
        return await explore(peripherals[0])
    }

    /// Connects, and discovers all of the service 180D.
    func explore(_ peripheral: CBPeripheral) async -> [CBCharacteristic] {
        peripheral.delegate = self
        manager.connect(peripheral)
        while let line = await next(), line != "connected" {}
        peripheral.discoverServices([CBUUID(string: "180D")])
        while let line = await next(), line != "services" {}
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics(nil, for: service)
            while let line = await next(), line != "characteristics" {}
        }
        return peripheral.services?.flatMap { $0.characteristics ?? [] } ?? []
    }

    private func tell(_ line: String) { told.continuation.yield(line) }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { tell("\(central.state)") }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        peripherals.append(peripheral)
        tell("found \(peripheral.name ?? "nil") at \(rssi)")
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { tell("connected") }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        tell("lost, \((error as? CBError)?.code.rawValue ?? -1)")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { tell("services") }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        tell("characteristics")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        tell("\(characteristic.uuid.uuidString) notifies: \(characteristic.isNotifying)")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        let refusal = (error as? CBATTError).map { "refused, \($0.code.rawValue)" }
        tell("\(characteristic.uuid.uuidString) " + (refusal ?? "is \([UInt8](characteristic.value ?? Data()))"))
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        tell("\(characteristic.uuid.uuidString) written, \((error as? CBATTError)?.code.rawValue ?? 0)")
    }
}
