import CoreBluetooth

/// A benchmark application that uses Core Bluetooth in the peripheral role and notifies its subscriber.
final class DelegatePeripheral: NSObject {
    private let count: Int
    private let value = Data(Workload.value)
    private let end: DispatchSemaphore
    private var manager: CBPeripheralManager?
    private let characteristic = CBMutableCharacteristic(
        type: CBUUID(string: "2A37"), properties: .notify, value: nil, permissions: .readable)
    private var flow: Flow?
    private var sent = 0

    init(_ work: Workload, onEnd end: DispatchSemaphore) {
        self.end = end
        count = work.count
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "application"))
    }

    private func update(_ manager: CBPeripheralManager) {
        while sent < count, manager.updateValue(value, for: characteristic, onSubscribedCentrals: nil) { sent += 1 }
    }
}

extension DelegatePeripheral: CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        service.characteristics = [characteristic]
        peripheral.add(service)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { fail("\(error)") }
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [service.uuid]])
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        flow = Flow()
        update(peripheral)
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        update(peripheral)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        // The peer unsubscribes when it has received all values.
        guard let flow, sent == count else { fail("unsubscribed too early") }
        flow.end(operations: count)
        self.flow = nil
        end.signal()
    }
}
