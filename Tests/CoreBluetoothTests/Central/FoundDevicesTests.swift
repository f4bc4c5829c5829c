import BluetoothLE
import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("B: devices found in one turn of the adapter", .timeLimit(.minutes(30)))
struct FoundDevicesTests {
    /// Everything the application holds.
    private final class Application {
        let recorder = Recorder()
        var manager: CBCentralManager?
        var listener: Listener?
        var another: Listener?
    }

    /// Makes a change at each discovery.
    private final class Listener: NSObject, CBCentralManagerDelegate {
        private let name: String
        private let application: Application
        private let change: (Application) -> Void
        /// What it does when it is released.
        var farewell: (Application) -> Void = { _ in }

        init(_ name: String, of application: Application, _ change: @escaping (Application) -> Void = { _ in }) {
            self.name = name
            self.application = application
            self.change = change
        }

        deinit {
            application.recorder.add("\(name) is released")
            farewell(application)
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            application.recorder.add("state \(central.state)")
        }

        func centralManager(
            _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
            rssi: NSNumber
        ) {
            application.recorder.add(name)
            change(application)
        }
    }

    /// What the application does at the first of three discoveries, and what its delegates then record.
    private static let changes: [(String, (Application) -> Void, lines: [String])] = [
        ("nothing", { _ in }, ["first", "first", "first"]),
        ("releases its manager", { $0.manager = nil }, ["first"]),
        ("sets no delegate", { $0.manager?.delegate = nil }, ["first"]),
        ("releases its delegate", { $0.listener = nil }, ["first", "first is released"]),
        (
            "sets another delegate",
            { application in
                application.listener = Listener("second", of: application)
                application.manager?.delegate = application.listener
            }, ["first", "first is released", "second", "second"]
        ),
        (
            "releases its delegate, which sets another one when it is released",
            { application in
                let second = Listener("second", of: application)
                application.listener?.farewell = { application in
                    application.listener = second
                    application.manager?.delegate = second
                }
                application.listener = nil
            }, ["first", "first is released", "second", "second"]
        ),
        (
            "sets another delegate, but the first one sets none when it is released",
            { application in
                let second = Listener("second", of: application)
                application.listener?.farewell = { $0.manager?.delegate = nil }
                application.manager?.delegate = second
                application.listener = nil
                application.another = second
            }, ["first", "first is released"]
        ),
    ]

    @Test(
        "A change of the delegate in a callback applies to the next device",
        arguments: changes.indices)
    func change(_ index: Int) async throws {
        let (_, change, lines) = Self.changes[index]
        let stage = Stage(), application = Application()
        let scanner = try await Adapter.open(stage.radio.addController())
        let advertiser = try await Adapter.open(stage.radio.addController())
        try await advertiser.advertise(AdvertisementData())
        let sighting = try await scanner.firstSighting(for: ScanFilter())
        application.listener = Listener("first", of: application, change)
        application.manager = stage.with(stage.radio.addController()) {
            CBCentralManager(delegate: application.listener, queue: application.recorder.queue)
        }
        await application.recorder.expect("state poweredOn")
        let recorded = await application.recorder.onQueue { () -> ArraySlice<String> in
            guard let session = application.manager?.session else { return [] }
            // No device has this service, so the test alone decides what is found.
            application.manager?.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
            let found = FoundDevices([sighting, sighting, sighting], 0..<3, firstNumber: 0)
            session.handle(.discovered(found, scan: application.manager?.scans ?? 0), Span())
            return application.recorder.all.dropFirst()
        }
        #expect(Array(recorded) == lines)
        withExtendedLifetime(advertiser) {}
        (application.listener, application.another) = (nil, nil)
    }
}
