import CoreBluetooth

/// A delegate of a peripheral manager, as an application writes one.
final class PeripheralRecorder: NSObject, CBPeripheralManagerDelegate {
    let recorder: Recorder
    /// The requests that have not been answered yet.
    var requests: [CBATTRequest] = []
    /// The PSMs that were published, and the channels to them that were opened, where they are to be kept.
    var psms: [CBL2CAPPSM] = []
    var channels: [CBL2CAPChannel] = []
    var keepsChannels = true
    var centrals: [CBCentral] = []
    /// Answers requests; where nil they are left for the test.
    var answer: ((CBPeripheralManager, [CBATTRequest]) -> Void)?

    init(_ recorder: Recorder) { self.recorder = recorder }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        recorder.add("state \(peripheral.state)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        recorder.add("restore \(dict.keys.sorted().joined(separator: " "))")
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        recorder.add("advertising \(peripheral.isAdvertising) \(error.line)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        recorder.add("added \(service.uuid.uuidString) \(error.line)")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        if !centrals.contains(central) { centrals.append(central) }
        recorder.add("subscribed \(characteristic.uuid.uuidString)")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        recorder.add("unsubscribed \(characteristic.uuid.uuidString)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        recorder.add("read \(request.characteristic.uuid.uuidString) \(request.offset)")
        if let answer { answer(peripheral, [request]) } else { requests.append(request) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        let parts = requests.map { "\($0.characteristic.uuid.uuidString) \($0.offset) \($0.value?.hex ?? "nil")" }
        recorder.add("write \(parts.joined(separator: ", "))")
        if let answer { answer(peripheral, requests) } else { self.requests += requests }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { recorder.add("ready") }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
    ) {
        psms.append(psm)
        recorder.add("published channel \(error.line)")
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel psm: CBL2CAPPSM, error: (any Error)?
    ) {
        recorder.add("unpublished channel \(error.line)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        if keepsChannels, let channel { channels.append(channel) }
        recorder.add("channel \(error.line)")
    }
}
