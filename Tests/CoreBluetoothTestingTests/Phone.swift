import CoreBluetooth

/// An app that scans, connects to the first peripheral that it finds, and discovers everything. It records its
/// callbacks as lines. Tests read them when it has nothing left to do.
final class Phone: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Unchecked: it is used on its queue, or while that has nothing to do.

    private(set) var manager: CBCentralManager!
    private(set) var lines: [String] = []
    /// The advertisements, in order.
    private(set) var advertisements: [(peripheral: CBPeripheral, data: [String: Any], rssi: Int)] = []
    private(set) var peripheral: CBPeripheral?
    private let connects: Bool
    private let discovers: Bool

    /// - Parameters:
    ///   - restoring: the restore identifier.
    ///   - scans: whether it scans, with duplicates, as soon as it can.
    ///   - connects: whether it connects to what it finds.
    ///   - discovers: whether it discovers everything after connecting.
    init(restoring identifier: String? = nil, scans: Bool = true, connects: Bool = true, discovers: Bool = true) {
        self.connects = connects
        self.discovers = discovers
        self.scans = scans
        super.init()
        let options = identifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] }
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "phone"), options: options)
    }

    private let scans: Bool

    func has(_ line: String) -> Bool { lines.contains(line) }

    /// The characteristics that were discovered, by their UUIDs.
    func characteristic(_ uuid: String) -> CBCharacteristic? {
        peripheral?.services?.flatMap { $0.characteristics ?? [] }.first { $0.uuid.uuidString == uuid }
    }

    func read(_ uuid: String) { characteristic(uuid).map { peripheral?.readValue(for: $0) } }

    func write(_ value: Data, _ uuid: String, _ type: CBCharacteristicWriteType = .withResponse) {
        characteristic(uuid).map { peripheral?.writeValue(value, for: $0, type: type) }
    }

    func subscribe(_ uuid: String, _ isOn: Bool = true) {
        characteristic(uuid).map { peripheral?.setNotifyValue(isOn, for: $0) }
    }

    func connect(_ peripheral: CBPeripheral) {
        self.peripheral = peripheral
        peripheral.delegate = self
        manager.connect(peripheral)
    }

    private func code(_ error: (any Error)?) -> String {
        switch error {
        case nil: "-"
        case let error as CBATTError: "ATT \(error.code.rawValue)"
        case let error as CBError: "CB \(error.code.rawValue)"
        default: "other"
        }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        lines.append("\(central.state)")
        guard central.state == .poweredOn, scans else { return }
        central.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        peripheral = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
        peripheral?.delegate = self
        lines.append("restored \(peripheral?.name ?? "nil")")
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        if advertisements.count < 10_000 { advertisements.append((peripheral, advertisementData, rssi.intValue)) }
        guard connects, self.peripheral == nil else { return }
        central.stopScan()
        connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        lines.append("connected")
        if discovers { peripheral.discoverServices(nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        lines.append("failed \(code(error))")
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        lines.append("lost \(code(error))")
    }

    func peripheralDidUpdateName(_ peripheral: CBPeripheral) { lines.append("named \(peripheral.name ?? "nil")") }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices services: [CBService]) {
        lines.append("modified " + services.map(\.uuid.uuidString).sorted().joined(separator: " "))
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI rssi: NSNumber, error: (any Error)?) {
        lines.append("rssi \(rssi)")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        lines.append("services \(code(error))")
        for service in peripheral.services ?? [] {
            peripheral.discoverIncludedServices(nil, for: service)
            peripheral.discoverCharacteristics(nil, for: service)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {
        guard error != nil || service.includedServices?.isEmpty == false else { return }
        lines.append("included \(code(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
        lines.append("characteristics \(code(error))")
        for characteristic in service.characteristics ?? [] { peripheral.discoverDescriptors(for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        lines.append("descriptors of \(characteristic.uuid.uuidString) \(code(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
        lines.append("\(descriptor.uuid.uuidString) is \(descriptor.value ?? "nil") \(code(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        lines.append("\(descriptor.uuid.uuidString) written \(code(error))")
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        lines.append("\(characteristic.uuid.uuidString) notifies \(characteristic.isNotifying) \(code(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        let value = [UInt8](characteristic.value ?? Data())
        lines.append("\(characteristic.uuid.uuidString) is \(value) \(code(error))")
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        lines.append("\(characteristic.uuid.uuidString) written \(code(error))")
    }
}
