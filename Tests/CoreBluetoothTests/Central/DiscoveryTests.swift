import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("E: discovery", .timeLimit(.minutes(30)))
struct DiscoveryTests {
    /// A peripheral with two services of one UUID, and one that they include.
    static func twins(on scene: CentralScene) async throws -> [PublishedService] {
        let included = try await scene.peripheral.publish(.init(uuid: "180F", isPrimary: false))
        let value = GATTCharacteristicDefinition(uuid: "2A37", properties: .read, value: .constant([1]))
        let twin = GATTServiceDefinition(
            uuid: "180D", includes: [included.handles.declaration], characteristics: [value, value])
        return [try await scene.peripheral.publish(twin), try await scene.peripheral.publish(twin)]
    }

    @Test("Row 41: lists are nil before discovery")
    func nothing() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        #expect(peripheral.services == nil)
        peripheral.discoverServices([CentralScene.service])
        await scene.recorder.skip(to: "services -")
        let service = try #require(peripheral.services?.first)
        #expect(service.isPrimary && service.characteristics == nil && service.includedServices == nil)
        peripheral.discoverCharacteristics([CBUUID(string: "F001")], for: service)
        await scene.recorder.expect("characteristics \(CentralScene.serviceText) -")
        let characteristic = try #require(service.characteristics?.first)
        #expect(characteristic.descriptors == nil && characteristic.value == nil && !characteristic.isNotifying)
        #expect(characteristic.properties == [.read, .write, .writeWithoutResponse])
    }

    @Test("Row 48: discovery without a delegate is carried out and logged")
    func unheard() async throws {
        let log = Log()
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        let delegate = peripheral.delegate
        peripheral.delegate = nil
        // Its name may be another one afterwards.
        let line = "\(peripheral) was asked to discover"
        peripheral.discoverServices([CentralScene.service])
        await until("there is a service") { peripheral.services?.count == 1 }
        #expect(log.contains("API MISUSE: \(line) services, but has no delegate"))
        peripheral.delegate = delegate
        peripheral.discoverServices([CentralScene.service])
        await scene.recorder.skip(to: "services -")
        #expect(log.lines.filter { $0.contains(line) }.count == 1)
    }

    @Test("Row 42: discovery adds to earlier results, and known objects stay the same")
    func accumulation() async throws {
        let scene = try await CentralScene()
        let services = try await Self.twins(on: scene)
        let peripheral = try await scene.connected()
        peripheral.discoverServices([CentralScene.service])
        peripheral.discoverServices([CBUUID(string: "180D")])
        await scene.recorder.skip(to: "services -")
        await scene.recorder.skip(to: "services -")
        let found = try #require(peripheral.services)
        // Row 44: services of one UUID are two, in the order of their handles.
        #expect(found.map(\.uuid.uuidString) == [CentralScene.serviceText, "180D", "180D"])
        #expect(found[1] !== found[2])
        peripheral.discoverCharacteristics([CBUUID(string: "F003")], for: found[0])
        await scene.recorder.expect("characteristics \(CentralScene.serviceText) -")
        let notified = try #require(found[0].characteristics?.first)
        peripheral.setNotifyValue(true, for: notified)
        await scene.recorder.expect("notifying F003 true -")
        peripheral.discoverServices(nil)
        peripheral.discoverCharacteristics(nil, for: found[0])
        await scene.recorder.expect("services -", "characteristics \(CentralScene.serviceText) -")
        let again = try #require(peripheral.services)
        #expect(again.filter { service in found.contains { $0 === service } }.count == 3)
        #expect(Set(again.map(ObjectIdentifier.init)).count == again.count)
        #expect(found[0].characteristics?.map(\.uuid.uuidString) == ["F001", "F002", "F003", "F004", "F005"])
        #expect(found[0].characteristics?[2] === notified && notified.isNotifying)
        withExtendedLifetime(services) {}
    }

    @Test("Row 43: a filter that matches nothing is not an error")
    func noMatch() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        peripheral.discoverServices([CBUUID(string: "FFFF")])
        await scene.recorder.skip(to: "services -")
        #expect(peripheral.services == [])
        peripheral.discoverServices([CentralScene.service])
        await scene.recorder.expect("services -")
        let service = try #require(peripheral.services?.first)
        peripheral.discoverCharacteristics([CBUUID(string: "FFFF")], for: service)
        await scene.recorder.expect("characteristics \(CentralScene.serviceText) -")
        #expect(service.characteristics == [])
    }

    @Test("Row 45: included services and descriptors are found only by their own calls")
    func includedAndDescriptors() async throws {
        let scene = try await CentralScene()
        _ = try await Self.twins(on: scene)
        let (peripheral, characteristics) = try await scene.discovered()
        peripheral.discoverServices([CBUUID(string: "180D")])
        await scene.recorder.expect("services -")
        let twins = try #require(peripheral.services?.filter { $0.uuid == CBUUID(string: "180D") })
        #expect(twins[0].includedServices == nil)
        peripheral.discoverIncludedServices(nil, for: twins[0])
        peripheral.discoverIncludedServices(nil, for: twins[1])
        await scene.recorder.expect("included 180D -", "included 180D -")
        let included = try #require(twins[0].includedServices?.first)
        #expect(included.uuid == CBUUID(string: "180F") && !included.isPrimary)
        #expect(twins[1].includedServices?.first === included)
        #expect(peripheral.services?.contains(included) == false)

        let stored = try #require(characteristics[CentralScene.stored])
        peripheral.discoverDescriptors(for: stored)
        await scene.recorder.expect("descriptors F001 -")
        let descriptors = try #require(stored.descriptors)
        #expect(descriptors.map(\.uuid.uuidString) == ["2901", "2904", "F0D0"])
        #expect(descriptors.allSatisfy { $0.characteristic === stored && $0.value == nil })
        let notified = try #require(characteristics[CentralScene.notified])
        peripheral.discoverDescriptors(for: notified)
        await scene.recorder.expect("descriptors F003 -")
        #expect(notified.descriptors?.map(\.uuid.uuidString) == ["2902"])
    }

    @Test("Row 47: changed services are invalidated, and can be discovered again")
    func modified() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let old = try #require(peripheral.services?.first)
        // The manager has asked to be told of changes before it says that it has learned the name.
        await until("the manager is told of changes") {
            !scene.manager.retrieveConnectedPeripherals(withServices: [CentralScene.service]).isEmpty
        }
        try await scene.service.withdraw()
        await scene.recorder.skip(to: "modified \(CentralScene.serviceText)")
        #expect(peripheral.services == [])
        let log = Log()
        peripheral.readValue(for: try #require(characteristics[CentralScene.stored]))
        #expect(log.contains("is not known to \(peripheral)"))
        _ = try await scene.peripheral.publish(CentralScene.definition)
        await scene.recorder.skip(to: "modified")
        peripheral.discoverServices([CentralScene.service])
        await scene.recorder.expect("services -")
        let new = try #require(peripheral.services?.first)
        #expect(new !== old)
        peripheral.discoverCharacteristics([CBUUID(string: "F001")], for: new)
        await scene.recorder.expect("characteristics \(CentralScene.serviceText) -")
        peripheral.readValue(for: try #require(new.characteristics?.first))
        await scene.recorder.expect("value F001 010203 -")
    }

    @Test("Row 47: a subscriber of a changed service can subscribe again")
    func subscribedAnew() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        await until("the manager is told of changes") {
            !scene.manager.retrieveConnectedPeripherals(withServices: [CentralScene.service]).isEmpty
        }
        peripheral.setNotifyValue(true, for: try #require(characteristics[CentralScene.notified]))
        await scene.recorder.skip(to: "notifying F003 true -")
        let handles = scene.service.handles
        try await scene.service.withdraw()
        await scene.recorder.skip(to: "modified \(CentralScene.serviceText)")
        // The same again, where it was.
        let again = try await scene.peripheral.publish(CentralScene.definition, at: handles.declaration)
        await scene.recorder.skip(to: "modified")
        let anew = try await scene.discover(peripheral)
        peripheral.setNotifyValue(true, for: try #require(anew[CentralScene.notified]))
        await scene.recorder.skip(to: "notifying F003 true -")
        let local = try #require(again["F003"])
        try await #require(local.subscribers.first).notify([5])
        await scene.recorder.expect("value F003 05 -")
    }
}
