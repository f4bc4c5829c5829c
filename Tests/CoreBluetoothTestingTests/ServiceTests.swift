import CoreBluetooth
import CoreBluetoothTesting
import Testing

/// The app that is tested: it offers a value that can be read, written and subscribed to.
private final class App: NSObject, CBPeripheralManagerDelegate {
    private var manager: CBPeripheralManager!
    private var value = Data([1])
    private let characteristic = CBMutableCharacteristic(
        type: CBUUID(string: "F001"), properties: [.read, .write, .notify], value: nil,
        permissions: [.readable, .writeable])

    override init() {
        super.init()
        manager = CBPeripheralManager(delegate: self, queue: DispatchQueue(label: "app"))
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        service.characteristics = [characteristic]
        peripheral.add(service)
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [service.uuid]])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = value.dropFirst(request.offset)
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let written = requests[0].value, written.count <= 4 else {
            return peripheral.respond(to: requests[0], withResult: .invalidAttributeValueLength)
        }
        value = written
        peripheral.respond(to: requests[0], withResult: .success)
        _ = peripheral.updateValue(written, for: characteristic, onSubscribedCentrals: nil)
    }
}

@Suite("An app's services, against a declared central", .timeLimit(.minutes(30)))
struct ServiceTests {
    @Test("A central finds the app's service, reads, writes and subscribes")
    func values() async throws {
        let air = TestRadio()
        let app = air.app { App() }
        let phone = try await VirtualCentral(on: air)
        try await phone.simulateConnection(to: "180D")
        #expect(try await phone.services == [CBUUID(string: "180D")])
        #expect(try await phone.read("F001", in: "180D") == Data([1]))
        let values = try await phone.subscribe(to: "F001", in: "180D")
        try await phone.write(Data([2, 3]), to: "F001", in: "180D")
        for try await value in values {
            #expect(value == Data([2, 3]))
            break
        }
        #expect(try await phone.read("F001", in: "180D") == Data([2, 3]))
        let error = await #expect(throws: CBATTError.self) {
            try await phone.write(Data(count: 5), to: "F001", in: "180D")
        }
        #expect(error?.code == .invalidAttributeValueLength)
        try await phone.simulateDisconnection()
        withExtendedLifetime(app) {}
    }
}
