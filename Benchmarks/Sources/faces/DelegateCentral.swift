import CoreBluetooth

/// A benchmark application that uses Core Bluetooth in the central role.
final class DelegateCentral: NSObject {
    private static let service = CBUUID(string: "180D")
    private let work: Workload
    private let value = Data(Workload.value)
    private let end: DispatchSemaphore
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?
    private var target: CBCharacteristic?
    private var channel: DelegateChannel?
    private var flow: Flow?
    private var values: Values
    /// The number of operations that were started.
    private var begun = 0

    init(_ work: Workload, onEnd end: DispatchSemaphore) {
        self.end = end
        self.work = work
        values = Values(work)
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "application"))
    }

    private func finish(_ operations: Int, lost: Int = 0) {
        guard let flow else { fail("ended before it began") }
        flow.end(operations: operations, lost: lost, values.latencies)
        self.flow = nil
        end.signal()
    }

    private func begin() {
        guard let peripheral, let target else { fail("begun too early") }
        flow = Flow()
        switch work.kind {
        case .notification: askForValues()
        case .write: write()
        case .read: peripheral.readValue(for: target)
        case .notify, .notifySingly, .report, .channelWrite, .channelRead:
            fail("nothing that is done with a characteristic of a peripheral")
        }
    }

    /// Requests the next values. The peer waits for this write before it sends them.
    private func askForValues() {
        guard let peripheral, let target else { return }
        peripheral.writeValue(Data([1]), for: target, type: .withoutResponse)
    }

    private func write() {
        guard let peripheral, let target else { return }
        while begun < work.count, peripheral.canSendWriteWithoutResponse {
            peripheral.writeValue(value, for: target, type: .withoutResponse)
            begun += 1
            // The peer answers this read after it has received all writes.
            if begun == work.count { peripheral.readValue(for: target) }
        }
    }
}

extension DelegateCentral: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: [Self.service])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        central.stopScan()
        self.peripheral = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        switch work.kind {
        case .channelWrite, .channelRead: peripheral.openL2CAPChannel(Workload.psm)
        default: peripheral.discoverServices([Self.service])
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        guard flow != nil else { return }
        // The missing notifications count as lost: the benchmark also measures how well a slow consumer keeps up.
        warn(String(describing: error))
        finish(values.received, lost: values.lost)
    }
}

extension DelegateCentral: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        guard let target = service.characteristics?.first else { fail("the characteristic is not there") }
        self.target = target
        if work.kind == .notification {
            peripheral.setNotifyValue(true, for: target)
        } else {
            begin()
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { fail("\(error)") }
        begin()
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        guard let value = characteristic.value, error == nil else { fail("\(String(describing: error))") }
        switch work.kind {
        case .notification:
            values.receive(value)
            if values.isRoundComplete { askForValues() }
            if values.isComplete { finish(values.received, lost: values.lost) }
        case .read:
            begun += 1
            if begun == work.count { return finish(begun) }
            peripheral.readValue(for: characteristic)
        default:
            finish(begun)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel, let blocks = DelegateChannel(work, over: channel, onEnd: { [end] in end.signal() })
        else { fail("\(String(describing: error))") }
        self.channel = blocks
        blocks.begin()
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
        if work.kind == .write { write() }
    }
}
