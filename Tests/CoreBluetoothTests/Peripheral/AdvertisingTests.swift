import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("G: advertising", .timeLimit(.minutes(30)))
struct AdvertisingTests {
    private static let long = (1...5).map { CBUUID(string: "E07F0AE8-00BB-47F5-94F4-4A7174EA303\($0)") }
    private static let short = (0..<100).map { CBUUID(string: String(format: "%04X", 0x1900 + $0)) }

    @Test("Row 68: the name and the services are advertised; other keys are ignored and logged")
    func content() async throws {
        let log = Log()
        let scene = await PeripheralScene()
        scene.manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Card", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "180D")],
            CBAdvertisementDataManufacturerDataKey: Data([0xFF, 0xFF, 1]),
            CBAdvertisementDataTxPowerLevelKey: NSNumber(value: 4),
        ])
        await scene.recorder.expect("advertising true -")
        let seen = try await scene.sighting()
        #expect(seen.localName == .complete("Card") && seen.serviceUUIDs == ["180D"] && !seen.isServiceListIncomplete)
        #expect(seen.flags == [.generalDiscoverable, .brEDRNotSupported])
        #expect(seen.manufacturerData.isEmpty && seen.txPowerLevel == nil)
        #expect(
            log.contains(
                "\(scene.manager) cannot advertise kCBAdvDataManufacturerData, kCBAdvDataTxPowerLevel"))
    }

    @Test("Row 68: advertising needs no data", arguments: [nil, [:]] as [[String: String]?])
    func empty(_ dictionary: [String: String]?) async throws {
        let scene = await PeripheralScene()
        scene.manager.startAdvertising(dictionary)
        await scene.recorder.expect("advertising true -")
        let seen = try await scene.sighting()
        #expect(seen.localName == nil && seen.serviceUUIDs.isEmpty)
    }

    @Test("Row 68: a second start fails until advertising is stopped")
    func twice() async throws {
        let scene = await PeripheralScene()
        scene.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "first"])
        scene.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "second"])
        await scene.recorder.expect("advertising true -", "advertising true CB 9")
        #expect(try await scene.sighting().localName == .complete("first"))
        scene.manager.stopAdvertising()
        #expect(!scene.manager.isAdvertising)
        scene.manager.stopAdvertising()
        scene.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "third"])
        await scene.recorder.expect("advertising true -")
        #expect(try await scene.sighting().localName == .complete("third"))
    }

    @Test("Row 68: stopping right after starting ends advertising; the start is still reported")
    func stoppedAtOnce() async throws {
        let scene = await PeripheralScene()
        // On the delegate's queue nothing is told between the two.
        scene.recorder.queue.sync {
            scene.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "Card"])
            scene.manager.stopAdvertising()
        }
        await scene.recorder.expect("advertising false -")
        #expect(!scene.manager.isAdvertising)
        await until("the air is quiet") { !scene.isOnAir }
    }

    @Test(
        "Row 68: a name that is too long is shortened",
        arguments: [
            (String(repeating: "n", count: 29), String(repeating: "n", count: 29)),
            (String(repeating: "n", count: 40), String(repeating: "n", count: 29)),
            // A character is there as a whole or not at all, and nothing comes after one that is not.
            (String(repeating: "n", count: 28) + "éa", String(repeating: "n", count: 28)),
            (String(repeating: "ü", count: 20), String(repeating: "ü", count: 14)),
        ])
    func longName(_ name: String, _ advertised: String) async throws {
        let scene = await PeripheralScene()
        scene.manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: [Self.long[0]],
        ])
        await scene.recorder.expect("advertising true -")
        let seen = try await scene.sighting()
        #expect(seen.localName == (name == advertised ? .complete(name) : .shortened(advertised)))
        #expect(seen.serviceUUIDs == [BluetoothUUID(Self.long[0].uuidString)])
    }

    @Test("Row 68: a name of a single character that does not fit is left out")
    func noName() async throws {
        let scene = await PeripheralScene()
        scene.manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "e" + String(repeating: "\u{301}", count: 40),
            CBAdvertisementDataServiceUUIDsKey: [Self.long[0]],
        ])
        await scene.recorder.expect("advertising true -")
        let seen = try await scene.sighting()
        #expect(seen.localName == nil && seen.serviceUUIDs == [BluetoothUUID(Self.long[0].uuidString)])
    }

    @Test(
        "Row 68: if the services do not all fit beside the name, the first ones are advertised",
        arguments: [
            (long, 1, "A long name, or so"), (long, 2, "short"), (long, 2, ""), (short, 17, "A name of eighteen"),
        ])
    func manyServices(_ services: [CBUUID], _ count: Int, _ name: String) async throws {
        let scene = await PeripheralScene()
        scene.manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: services,
        ])
        await scene.recorder.expect("advertising true -")
        let seen = try await scene.sighting()
        #expect(seen.serviceUUIDs == services.prefix(count).compactMap { BluetoothUUID($0.uuidString) })
        #expect(seen.isServiceListIncomplete && seen.localName == (name.isEmpty ? nil : .complete(name)))
    }

    @Test("Two managers' advertisements are combined, and each manager stops its own")
    func twoManagers() async throws {
        let scene = await PeripheralScene()
        let others = PeripheralRecorder(Recorder("other"))
        let other = scene.stage.with(scene.port) {
            CBPeripheralManager(delegate: others, queue: others.recorder.queue)
        }
        await others.recorder.expect("state poweredOn")
        func wanted(_ name: String, _ uuids: String...) -> [String: Any] {
            [
                CBAdvertisementDataLocalNameKey: name,
                CBAdvertisementDataServiceUUIDsKey: uuids.map { CBUUID(string: $0) },
            ]
        }
        scene.manager.startAdvertising(wanted("first", "180D", "180F"))
        other.startAdvertising(wanted("second", "180F", "1816"))
        await scene.recorder.expect("advertising true -")
        await others.recorder.expect("advertising true -")
        let together = try await scene.sighting()
        #expect(together.localName == .complete("first") && together.serviceUUIDs == ["180D", "180F", "1816"])
        scene.manager.stopAdvertising()
        #expect(!scene.manager.isAdvertising && other.isAdvertising)
        try await until("the other one is left") { try await scene.sighting().localName == .complete("second") }
        #expect(try await scene.sighting().serviceUUIDs == ["180F", "1816"])
        other.stopAdvertising()
        await until("the air is quiet") { !scene.isOnAir }
    }

    @Test("Row 68: advertising continues while centrals are connected, and stopping it keeps their links")
    func whileConnected() async throws {
        let scene = await PeripheralScene()
        let (first, second) = (try await scene.central(), try await scene.central())
        #expect(first.role == .central && second.role == .central)
        await until("it advertises") { scene.isOnAir }
        scene.manager.stopAdvertising()
        await until("the air is quiet") { !scene.isOnAir }
        #expect(first.mtu == 517, "the link stays")
    }
}

extension PeripheralScene {
    /// Whether the manager's controller advertises.
    var isOnAir: Bool { stage.radio.withAir { air, _ in air[port.identifier].isAdvertising } }

    /// What a scanner hears, advertisement and scan response.
    func sighting() async throws -> AdvertisementData {
        let scanner = try await Adapter.open(stage.radio.addController())
        for try await sighting in scanner.scan(parameters: ScanParameters(reportsDuplicates: true)) {
            // The response follows at once where there is one; the second time it has come.
            guard sighting.lastSeen > sighting.firstSeen else { continue }
            return sighting.advertisement
        }
        throw BluetoothError.cancelled
    }
}
