import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("C: identity and lifetime of peripherals", .timeLimit(.minutes(30)))
struct IdentityTests {
    @Test("Row 22: an identifier is the same for managers that share a state directory, and differs elsewhere")
    func identifier() async throws {
        let scene = try await CentralScene(storesFiles: true)
        let identifier = try await scene.found().identifier
        let port = scene.stage.radio.addController()
        for (stage, isSame) in [(scene.stage, true), (Stage(), false)] {
            let events = CentralRecorder(Recorder())
            let manager = BluetoothEnvironment.with(
                transport: BluetoothTransport(port), stateDirectory: stage.stateDirectory
            ) { CBCentralManager(delegate: events, queue: events.recorder.queue) }
            await events.recorder.expect("state poweredOn")
            manager.scanForPeripherals(withServices: [CentralScene.service])
            await events.recorder.skip(to: "discovered")
            let other = try #require(await events.recorder.onQueue { events.peripherals.first })
            #expect((other.identifier == identifier) == isSame)
            withExtendedLifetime(manager) {}
        }
        // Nobody else may read the key.
        let key = scene.stage.stateDirectory.appendingPathComponent("identifiers.key").path
        let permissions = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
    }

    @Test("Row 23: releasing a peripheral ends its connection, and the reason is logged")
    func abandoned() async throws {
        let log = Log()
        let scene = try await CentralScene()
        var peripheral: CBPeripheral? = try await scene.connected()
        let identifier = try #require(peripheral?.identifier)
        await until("the link is there") { scene.peripheral.connections.count == 1 }
        await scene.recorder.onQueue { scene.events.peripherals = [] }
        weak let observed = peripheral
        peripheral = nil
        await until("the link has ended") { scene.peripheral.connections.isEmpty }
        #expect(observed == nil)
        await until("it is logged") { log.contains("Cancelling connection for unused peripheral \(identifier)") }
    }

    @Test("Row 24: a peripheral is the same object as long as it is held")
    func sameObject() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        let known = scene.manager.retrievePeripherals(withIdentifiers: [peripheral.identifier])
        #expect(known.count == 1 && known.first === peripheral)
        scene.manager.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        for _ in 0..<3 { await scene.recorder.skip(to: "discovered") }
        #expect(await scene.recorder.onQueue { scene.events.peripherals.count } == 1)
        var table: [CBPeripheral: Int] = [peripheral: 1]
        table[known[0]] = 2
        #expect(table == [peripheral: 2])
    }

    @Test("Row 25: known peripherals can be connected to without a scan; unknown identifiers are skipped")
    func retrieve() async throws {
        let scene = try await CentralScene()
        let identifier = try await scene.found().identifier
        await scene.recorder.onQueue { scene.events.peripherals = [] }
        let found = scene.manager.retrievePeripherals(withIdentifiers: [UUID(), identifier, UUID()])
        let peripheral = try #require(found.first)
        #expect(found.count == 1 && peripheral.identifier == identifier)
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "connected connected")
    }

    @Test("Row 26: links of other managers are listed, but each manager must connect to them itself")
    func retrieveConnected() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        let (other, _) = await scene.other()
        await until("its services are known") {
            !other.retrieveConnectedPeripherals(withServices: [CentralScene.service]).isEmpty
        }
        let found = other.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180D"), CentralScene.service])
        #expect(found.map(\.identifier) == [peripheral.identifier])
        #expect(found.first?.state == .disconnected)
        #expect(other.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180D")]) == [])
        #expect(other.retrieveConnectedPeripherals(withServices: []) == [])
        withExtendedLifetime(peripheral) {}
    }

    @Test("Row 27: discovered objects do not retain their owner")
    func backPointers() async throws {
        let scene = try await CentralScene()
        var peripheral: CBPeripheral?
        var characteristics: [String: CBCharacteristic] = [:]
        (peripheral, characteristics) = try await scene.discovered()
        let characteristic = try #require(characteristics[CentralScene.stored])
        characteristics = [:]
        #expect(characteristic.service?.peripheral === peripheral)
        await scene.recorder.onQueue { scene.events.peripherals = [] }
        weak let observed = peripheral
        peripheral = nil
        await until("the peripheral is gone") { observed == nil }
        #expect(characteristic.service?.peripheral == nil)
    }

    @Test("Releasing a manager and its peripheral ends the link and closes the adapter")
    func everythingGoes() async throws {
        let scene = try await CentralScene()
        let events = CentralRecorder(Recorder())
        let port = scene.stage.radio.addController()
        var manager: CBCentralManager? = scene.stage.with(port) {
            CBCentralManager(delegate: events, queue: events.recorder.queue)
        }
        await events.recorder.expect("state poweredOn")
        manager?.scanForPeripherals(withServices: [CentralScene.service])
        await events.recorder.skip(to: "discovered")
        manager?.connect(try #require(await events.recorder.onQueue { events.peripherals.first }))
        await events.recorder.skip(to: "connected")
        await until("the link is there") { !scene.peripheral.connections.isEmpty }
        let adapter = AdapterWatch(port)
        #expect(!adapter.isGone)
        weak let (observed, peripheral) = (manager, events.peripherals.first)
        manager = nil
        await events.recorder.onQueue { events.peripherals = [] }
        await until("both are gone") { observed == nil && peripheral == nil }
        await until("the link has ended") { scene.peripheral.connections.isEmpty }
        await until("the adapter is gone") { adapter.isGone }
    }
}
