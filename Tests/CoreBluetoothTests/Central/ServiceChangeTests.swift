import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("Services that change while an application uses them", .timeLimit(.minutes(30)))
struct ServiceChangeTests {
    /// A value in a service that stays, whose reads are answered when the test says so.
    private static let other = GATTServiceDefinition(
        uuid: "180F", characteristics: [.init(uuid: "2A19", properties: .read, value: .dynamic)])
    /// What takes the place of the scene's service: something else that can be written and read.
    private static let replacement = GATTServiceDefinition(
        uuid: "1815",
        characteristics: [
            .init(
                uuid: "F0AA", properties: [.read, .write, .writeWithoutResponse, .notify],
                value: .variableLength([0xAA]))
        ])

    private struct Change {
        let scene: CentralScene
        let peripheral: CBPeripheral
        let characteristics: [String: CBCharacteristic]
        let level: CBCharacteristic
        let local: PublishedCharacteristic

        init() async throws {
            scene = try await CentralScene()
            let published = try await scene.peripheral.publish(ServiceChangeTests.other)
            local = try #require(published["2A19"])
            (peripheral, characteristics) = try await scene.discovered()
            // The manager has asked to be told of changes before it says that it knows the services.
            let manager = scene.manager
            await until("the manager is told of changes") {
                !manager.retrieveConnectedPeripherals(withServices: [CentralScene.service]).isEmpty
            }
            peripheral.discoverServices([CBUUID(string: "180F")])
            await scene.recorder.skip(to: "services -")
            let service = try #require(peripheral.services?.first { $0.uuid == CBUUID(string: "180F") })
            peripheral.discoverCharacteristics(nil, for: service)
            await scene.recorder.skip(to: "characteristics")
            level = try #require(service.characteristics?.first)
        }

        /// The scene's service goes, and another has its handles.
        func replace() async throws -> PublishedCharacteristic {
            let handle = scene.service.handles.declaration
            try await scene.service.withdraw()
            let replacement = try await scene.peripheral.publish(ServiceChangeTests.replacement, at: handle)
            return try #require(replacement["F0AA"])
        }
    }

    @Test("Row 47: a service removed right after its discovery is reported to the delegate")
    func early() async throws {
        let scene = try await CentralScene(time: .manual)
        // Usually the host does not watch changes yet: MissedChangeTests shows that it finds this one anyway.
        let (peripheral, _) = try await scene.discovered()
        try await scene.stage.passing {
            try await scene.service.withdraw()
            await scene.recorder.skip(to: "modified \(CentralScene.serviceText)")
        }
        #expect(await scene.recorder.onQueue { peripheral.services?.isEmpty } == true)
    }

    @Test("Row 47: operations waiting behind another one do not reach a new service at the same handles")
    func waiting() async throws {
        let change = try await Change()
        let (scene, peripheral) = (change.scene, change.peripheral)
        let stored = try #require(change.characteristics[CentralScene.stored])
        let notified = try #require(change.characteristics[CentralScene.notified])
        peripheral.readValue(for: change.level)
        let asked = try await {
            for try await case .readRequested(let request) in change.local.events { return Optional(request) }
            return nil
        }()
        peripheral.writeValue(Data([1]), for: stored, type: .withResponse)
        peripheral.writeValue(Data([2]), for: stored, type: .withoutResponse)
        peripheral.setNotifyValue(true, for: notified)
        peripheral.readValue(for: stored)
        peripheral.setNotifyValue(false, for: notified)
        let replacement = try await change.replace()
        await scene.recorder.skip(to: "modified \(CentralScene.serviceText)")
        await scene.recorder.skip(to: "modified")
        try await #require(asked).respond([7])
        await scene.recorder.expect(
            "value 2A19 07 -", "written F001 CB 0", "notifying F003 false CB 0", "value F001 nil CB 0",
            "notifying F003 false -")
        // Behind all that has been sent.
        peripheral.readRSSI()
        await scene.recorder.expect("rssi -")
        #expect(await replacement.value == [0xAA])
        #expect(replacement.subscribers.isEmpty)
    }

    @Test("Row 47: calls made before the delegate is notified do not reach a new service at the same handles")
    func notTold() async throws {
        let change = try await Change()
        let (scene, peripheral) = (change.scene, change.peripheral)
        let stored = try #require(change.characteristics[CentralScene.stored])
        // Another manager of the same host, whose delegate is told at once.
        let (manager, events) = await scene.other()
        let known = try #require(manager.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first)
        known.delegate = events
        manager.connect(known)
        await events.recorder.skip(to: "connected")
        known.discoverServices(nil)
        await events.recorder.skip(to: "services -")
        scene.recorder.queue.suspend()
        let replacement = try await change.replace()
        await events.recorder.skip(to: "modified")
        await events.recorder.skip(to: "modified")
        known.readRSSI()
        await events.recorder.skip(to: "rssi -")

        peripheral.writeValue(Data([1]), for: stored, type: .withResponse)
        peripheral.writeValue(Data([2]), for: stored, type: .withoutResponse)
        peripheral.readValue(for: stored)
        scene.recorder.queue.resume()
        await scene.recorder.skip(to: "modified \(CentralScene.serviceText)")
        await scene.recorder.skip(to: "modified")
        await scene.recorder.expect("written F001 CB 0", "value F001 nil CB 0")
        peripheral.readRSSI()
        await scene.recorder.expect("rssi -")
        #expect(await replacement.value == [0xAA])

        // What is found now is asked for.
        peripheral.discoverServices([CBUUID(string: "1815")])
        await scene.recorder.expect("services -")
        let service = try #require(peripheral.services?.first { $0.uuid == CBUUID(string: "1815") })
        peripheral.discoverCharacteristics(nil, for: service)
        await scene.recorder.expect("characteristics 1815 -")
        peripheral.readValue(for: try #require(service.characteristics?.first))
        await scene.recorder.expect("value F0AA aa -")
    }
}
