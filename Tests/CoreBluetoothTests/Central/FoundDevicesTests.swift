import BluetoothLE
import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("B: devices found in one turn of the adapter", .timeLimit(.minutes(30)))
struct FoundDevicesTests {
    /// Releases its manager at the first discovery.
    private final class Owner: NSObject, CBCentralManagerDelegate {
        let recorder = Recorder()
        var manager: CBCentralManager?

        func centralManagerDidUpdateState(_ central: CBCentralManager) { recorder.add("state \(central.state)") }

        func centralManager(
            _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
            rssi: NSNumber
        ) {
            recorder.add("discovered")
            manager = nil
        }
    }

    @Test("An application that releases its manager in a callback gets none of the other devices")
    func release() async throws {
        let stage = Stage(), owner = Owner()
        let scanner = try await Adapter.open(stage.radio.addController())
        let advertiser = try await Adapter.open(stage.radio.addController())
        try await advertiser.advertise(AdvertisementData())
        let sighting = try await scanner.firstSighting(for: ScanFilter())
        owner.manager = stage.with(stage.radio.addController()) {
            CBCentralManager(delegate: owner, queue: owner.recorder.queue)
        }
        await owner.recorder.expect("state poweredOn")
        await owner.recorder.onQueue {
            guard let session = owner.manager?.session else { return }
            // No device has this service, so the test alone decides what is found.
            owner.manager?.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
            let found = FoundDevices([sighting, sighting, sighting], 0..<3, firstNumber: 0)
            session.handle(.discovered(found, scan: owner.manager?.scans ?? 0))
            #expect(owner.manager == nil)
        }
        #expect(owner.recorder.all.filter { $0 == "discovered" }.count == 1)
        withExtendedLifetime(advertiser) {}
    }
}
