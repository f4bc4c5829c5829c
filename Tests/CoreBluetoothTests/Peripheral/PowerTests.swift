import BluetoothLE
import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("G: a peripheral manager as its adapter comes and goes", .timeLimit(.minutes(30)))
struct PowerTests {
    private let constant = CBMutableCharacteristic("F001", .read, value: Data([1]))
    private let notified = CBMutableCharacteristic("F002", [.read, .notify])

    /// A scene that advertises a service, to which a central is subscribed.
    private func busyScene() async throws -> (PeripheralScene, CBMutableService, EventSequence<[UInt8]>) {
        let scene = await PeripheralScene()
        let service = CBMutableService("AAA0", [constant, notified])
        await scene.add(service)
        let central = try await scene.central()
        let values = try await central.notifications(of: try await central.characteristic("F002"))
        await scene.recorder.expect("subscribed F002")
        return (scene, service, values)
    }

    @Test("Row 5: before the adapter is on, calls are ignored and logged")
    func misuse() async throws {
        let log = Log()
        let stage = Stage()
        let port = stage.radio.addController()
        let delegate = PeripheralRecorder(Recorder())
        let notified = notified
        let manager = await delegate.recorder.onQueue {
            let manager = stage.with(port) { CBPeripheralManager(delegate: delegate, queue: delegate.recorder.queue) }
            #expect(manager.state == .unknown && !manager.isAdvertising)
            let service = CBMutableService("AAA0", [notified])
            manager.add(service)
            manager.add(service)
            manager.startAdvertising(nil)
            #expect(!manager.updateValue(Data([1]), for: notified, onSubscribedCentrals: nil))
            manager.publishL2CAPChannel(withEncryption: false)
            return manager
        }
        await delegate.recorder.expect("state poweredOn")
        for call in ["add a service", "start advertising", "update a value", "publish an L2CAP channel"] {
            #expect(log.contains("API MISUSE: \(manager) can only \(call) while in the powered on state"))
        }
        manager.add(CBMutableService("BBB0"))
        await delegate.recorder.expect("added BBB0 -")
        #expect(delegate.recorder.all.count == 2 && delegate.recorder.strays == [])
    }

    @Test("Rows 6, 7: unplugging removes everything and reports only the state; services must be added again")
    func unplugged() async throws {
        let (scene, service, values) = try await busyScene()
        let before = scene.recorder.all.count
        scene.port.unplug()
        await scene.recorder.expect("state resetting")
        #expect(scene.manager.state == .resetting && !scene.manager.isAdvertising)
        #expect(notified.subscribedCentrals == [])
        #expect(!scene.manager.updateValue(Data([1]), for: notified, onSubscribedCentrals: nil))
        scene.port.plugIn()
        await scene.recorder.expect("state poweredOn")
        await scene.add(CBMutableService("BBB0"))
        #expect(!scene.manager.isAdvertising)
        await until("the air is quiet") { !scene.isOnAir }
        #expect(scene.recorder.all.count == before + 3)
        #expect(try await scene.central().discoverServices("AAA0").isEmpty)
        await scene.add(service)
        let central = try await scene.central()
        #expect(try await central.discoverServices("AAA0").count == 1)
        #expect(try await central.read(first: "F001") == [1])
        let again = try await central.notifications(of: try await central.characteristic("F002"))
        await scene.recorder.expect("subscribed F002")
        #expect(scene.manager.updateValue(Data([2]), for: notified, onSubscribedCentrals: nil))
        #expect(try await again.next(1) == [[2]])
        withExtendedLifetime(values) {}
    }

    @Test("Rows 7, 75: an update refused before the adapter disappeared causes no ready callback afterwards")
    func refusedBefore() async throws {
        let (scene, service, values) = try await busyScene()
        await scene.recorder.onQueue { [notified] in
            scene.fill(notified)
            scene.port.unplug()
            scene.setReports(areLost: false)
        }
        _ = await scene.recorder.skip(to: "state resetting")
        let before = scene.recorder.all.count
        scene.port.plugIn()
        await scene.recorder.expect("state poweredOn")
        await scene.add(service)
        let central = try await scene.central()
        try await central.disconnect()
        try await scene.settle(try await scene.central(), "F002")
        #expect(!scene.recorder.all[before...].contains("ready"))
        withExtendedLifetime(values) {}
    }

    @Test("Rows 6, 7: a controller reset has the same effect as unplugging")
    func reset() async throws {
        let (scene, service, values) = try await busyScene()
        scene.stage.radio.withAir { air, _ in air.reportHardwareError(0x42, on: scene.port.identifier) }
        await scene.recorder.expect("state resetting", "state poweredOn")
        #expect(notified.subscribedCentrals == [] && !scene.manager.isAdvertising)
        await scene.add(service)
        // The adapter takes up by itself what it did, and is told to end that.
        await until("the air is quiet") { !scene.isOnAir }
        let central = try await scene.central()
        #expect(try await central.discoverServices("AAA0").count == 1)
        #expect(
            scene.recorder.all.suffix(4) == [
                "state resetting", "state poweredOn", "added AAA0 -", "advertising true -",
            ])
        withExtendedLifetime(values) {}
    }

    @Test("Rows 6, 7: switching off ends advertising and subscriptions; switching on restores the services")
    func switchedOff() async throws {
        let scene = await PeripheralScene(CBMutableCharacteristic("F00A", .read, value: Data([9])))
        let first = CBMutableService("AAA0", [CBMutableCharacteristic("F00B", .read)])
        await scene.add(first)
        let service = CBMutableService("BBB0", [constant, notified])
        await scene.add(service)
        // So that the other services have other handles the next time.
        scene.manager.remove(first)
        let link = try await scene.central()
        let values = try await link.notifications(of: try await link.characteristic("F002"))
        await scene.recorder.expect("subscribed F002")
        await scene.setPower(false)
        await scene.recorder.expect("state poweredOff")
        #expect(!scene.manager.isAdvertising && notified.subscribedCentrals == [])
        #expect(!scene.manager.updateValue(Data([1]), for: notified, onSubscribedCentrals: nil))
        await scene.setPower(true)
        await scene.recorder.expect("state poweredOn")
        #expect(!scene.manager.isAdvertising)
        scene.delegate.answer = { manager, requests in
            requests[0].value = Data([7])
            manager.respond(to: requests[0], withResult: .success)
        }
        let central = try await scene.central()
        #expect(try await central.read(first: "F00A") == [9])
        #expect(try await central.read(first: "F001") == [1])
        #expect(try await central.read(first: "F002") == [7])
        await scene.recorder.expect("read F002 0")
        let again = try await central.notifications(of: try await central.characteristic("F002"))
        await scene.recorder.expect("subscribed F002")
        #expect(scene.manager.updateValue(Data([2]), for: notified, onSubscribedCentrals: nil))
        #expect(try await again.next(1) == [[2]])
        withExtendedLifetime(values) {}
    }

    @Test("Row 6: a service removed while the adapter is off does not come back")
    func removedWhileOff() async throws {
        let (scene, service, values) = try await busyScene()
        await scene.setPower(false)
        await scene.recorder.expect("state poweredOff")
        scene.manager.remove(service)
        await scene.setPower(true)
        await scene.recorder.expect("state poweredOn")
        await scene.add(CBMutableService("BBB0"))
        #expect(try await scene.central().discoverServices("AAA0").isEmpty)
        await scene.add(service)
        withExtendedLifetime(values) {}
    }

    @Test("Row 6: switching off and on in quick succession loses no service")
    func flicker() async throws {
        let scene = await PeripheralScene()
        for number in 0..<20 {
            await scene.add(CBMutableService("AA\(10 + number)", [CBMutableCharacteristic("F001", .read)]))
        }
        for _ in 0..<5 {
            await scene.setPower(false)
            await scene.setPower(true)
            await scene.recorder.expect("state poweredOff", "state poweredOn")
        }
        await scene.add(CBMutableService("BBB0"))
        let services = try await scene.central().discoverServices()
        #expect(services.count { "\($0.uuid)".hasPrefix("AA") } == 20)
        #expect(Set(services.map(\.uuid)).count == services.count)
    }

    @Test("Row 64: each added service is reported once, even if the adapter disappears, and may be added again")
    func addingWhileUnplugged() async throws {
        let scene = await PeripheralScene()
        let services = (0..<30).map { CBMutableService("AA\(10 + $0)", [CBMutableCharacteristic("F001", .read)]) }
        await scene.recorder.onQueue {
            for service in services { scene.manager.add(service) }
            scene.manager.startAdvertising(nil)
            scene.port.unplug()
        }
        await scene.recorder.skip(to: "state resetting")
        scene.port.plugIn()
        await scene.recorder.skip(to: "state poweredOn")
        let lines = scene.recorder.all
        #expect(lines.count { $0.hasPrefix("advertising") } == 1 && !scene.manager.isAdvertising)
        for service in services { #expect(lines.count { $0.hasPrefix("added \(service.uuid.uuidString) ") } == 1) }
        for service in services { await scene.add(service) }
        let found = try await scene.central().discoverServices()
        #expect(found.count { "\($0.uuid)".hasPrefix("AA") } == services.count)
    }

    @Test("Row 7: a request lost with the adapter may still be answered, and lost updates take up no queue space")
    func pending() async throws {
        let (scene, service, values) = try await busyScene()
        let central = try await scene.central()
        let reading = Task { try? await central.read(first: "F002") }
        await scene.recorder.expect("read F002 0")
        let request = try #require(await scene.recorder.onQueue { scene.delegate.requests.first })
        await scene.recorder.onQueue { [notified] in
            scene.fill(notified)
            scene.port.unplug()
            scene.setReports(areLost: false)
        }
        await scene.recorder.skip(to: "state resetting")
        scene.manager.respond(to: request, withResult: .success)
        reading.cancel()
        scene.port.plugIn()
        await scene.recorder.expect("state poweredOn")
        await scene.add(service)
        let link = try await scene.central()
        let again = try await link.notifications(of: try await link.characteristic("F002"))
        await scene.recorder.expect("subscribed F002")
        let taken = await scene.recorder.onQueue { [notified] in
            (0..<32).map { _ in scene.manager.updateValue(Data([2]), for: notified, onSubscribedCentrals: nil) }
        }
        #expect(!taken.contains(false))
        #expect(try await again.next(32) == [[UInt8]](repeating: [2], count: 32))
        withExtendedLifetime(values) {}
    }

    @Test("Row 9: without an adapter, a manager's state is unsupported")
    func unsupported() async {
        let stage = Stage()
        let delegate = PeripheralRecorder(Recorder())
        let manager = BluetoothEnvironment.with(
            transport: BluetoothTransport("unix:/nowhere/at/all"), stateDirectory: stage.stateDirectory
        ) {
            #expect(CBPeripheralManager.authorization == .allowedAlways)
            return CBPeripheralManager(delegate: delegate, queue: delegate.recorder.queue)
        }
        await delegate.recorder.expect("state unsupported")
        manager.startAdvertising(nil)
        #expect(!manager.isAdvertising)
    }

    @Test("Row 9: a manager created while the adapter is unplugged reports resetting first")
    func madeWhileAway() async throws {
        let (scene, _, values) = try await busyScene()
        scene.port.unplug()
        await scene.recorder.expect("state resetting")
        let delegate = PeripheralRecorder(Recorder("late"))
        let late = scene.stage.with(scene.port) {
            CBPeripheralManager(delegate: delegate, queue: delegate.recorder.queue)
        }
        await delegate.recorder.expect("state resetting")
        scene.port.plugIn()
        await delegate.recorder.expect("state poweredOn")
        late.add(CBMutableService("BBB0"))
        await delegate.recorder.expect("added BBB0 -")
        withExtendedLifetime(values) {}
    }
}

extension PeripheralScene {
    /// Switches the manager's adapter on or off.
    func setPower(_ isOn: Bool) async { await AdapterSimulation.setPower(isOn, at: BluetoothTransport(port)) }
}
