import CoreBluetooth

/// A heart rate sensor: an app that behaves like a chest strap.
final class HeartRateSensor: NSObject, CBPeripheralManagerDelegate {
    private var manager: CBPeripheralManager?
    private var timer: Timer?
    private var heartRate: UInt8 = 70
    /// A measurement that the transmit queue had no room for, sent again when there is room.
    private var pending: Data?

    private let measurement = CBMutableCharacteristic(
        type: CBUUID(string: "2A37"), properties: .notify, value: nil, permissions: .readable)
    private let bodySensorLocation = CBMutableCharacteristic(
        type: CBUUID(string: "2A38"), properties: .read, value: Data([1]), permissions: .readable)
    private let batteryLevel = CBMutableCharacteristic(
        type: CBUUID(string: "2A19"), properties: .read, value: nil, permissions: .readable)
    private let manufacturer = CBMutableCharacteristic(
        type: CBUUID(string: "2A29"), properties: .read, value: Data("Babbage & Company".utf8), permissions: .readable)

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: nil)
    }

    /// Releases the manager, which disconnects the centrals.
    func stop() {
        timer?.invalidate()
        manager = nil
    }

    private var services: [CBMutableService] {
        [("180D", [measurement, bodySensorLocation]), ("180F", [batteryLevel]), ("180A", [manufacturer])]
            .map { uuid, characteristics in
                let service = CBMutableService(type: CBUUID(string: uuid), primary: true)
                service.characteristics = characteristics
                return service
            }
    }

    private func send(_ value: Data) {
        guard let manager else { return }
        let isSent = manager.updateValue(value, for: measurement, onSubscribedCentrals: nil)
        pending = isSent ? nil : value
    }

    private func beat() {
        heartRate = UInt8(clamping: Int(heartRate) + .random(in: -2...2))
        // Flags: the rate has 8 bits, and the sensor feels the skin.
        send(Data([0b0110, heartRate]))
    }

    // MARK: - CBPeripheralManagerDelegate

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        print("Bluetooth is \(peripheral.state)")
        guard peripheral.state == .poweredOn else { return }
        // Services that were added before Bluetooth was turned off are still published.
        peripheral.removeAllServices()
        for service in services { peripheral.add(service) }
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Heart", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
        print(error.map { "cannot advertise: \($0.localizedDescription)" } ?? "advertising")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
        if let error { print("cannot add \(service.uuid): \(error.localizedDescription)") }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        print("\(central.identifier) has subscribed")
        guard timer == nil else { return }
        timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in self?.beat() }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        print("\(central.identifier) has left")
        guard measurement.subscribedCentrals?.isEmpty != false else { return }
        timer?.invalidate()
        timer = nil
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        if let pending { send(pending) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let value = Data([87])
        guard request.offset <= value.count else {
            return peripheral.respond(to: request, withResult: .invalidOffset)
        }
        request.value = value.subdata(in: request.offset..<value.count)
        peripheral.respond(to: request, withResult: .success)
    }
}
