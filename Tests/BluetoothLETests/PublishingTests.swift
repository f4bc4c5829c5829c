import AdapterTestSupport
import BluetoothGATT
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Publishing", .timeLimit(.minutes(30)))
struct PublishingTests {
    @Test("A withdrawn service disappears for peers, its events end without error, and its handles are free")
    func withdrawn() async throws {
        let scene = try await Scene()
        let local = try scene.local(Scene.notified)
        let (values, subscriber) = try await scene.subscribe(to: Scene.notified)
        try await scene.service.withdraw()
        #expect(await local.events.end() == nil)
        #expect(local.subscribers.isEmpty)
        #expect(try await scene.connection.discoverServices(Scene.service).isEmpty)
        await #expect(throws: BluetoothError.self) { try await subscriber.notify([1]) }
        await #expect(throws: BluetoothError.self) { try await scene.service.withdraw() }
        await #expect(throws: BluetoothError.self) { try await local.setValue([1]) }
        // Another service stands in the same place, and the old subscription does not count for it.
        let again = try await scene.peripheral.publish(Scene.definition, at: scene.service.handles.declaration)
        let successor = try #require(again[Scene.notified])
        #expect(successor.handle == local.handle)
        #expect(successor.subscribers.isEmpty)
        _ = values
    }

    @Test("An invalid definition or value is rejected with the reason")
    func refused() async throws {
        let scene = try await Scene()
        let error = await #expect(throws: BluetoothError.self) {
            try await scene.peripheral.publish(Scene.definition, at: scene.service.handles.declaration)
        }
        #expect(error?.code == .invalidDefinition && error?.underlyingError is GATTDatabaseError)
        let dynamic = try scene.local(Scene.dynamic)
        #expect(await dynamic.value == nil)
        await #expect(throws: BluetoothError.self) { try await dynamic.setValue([1]) }
        await #expect(throws: BluetoothError.self) {
            try await scene.local(Scene.stored).setValue([UInt8](repeating: 0, count: 513))
        }
    }

    @Test("An indication waits until the Service Changed indication is confirmed")
    func serviceChanged() async throws {
        let scene = try await Scene(time: .manual)
        let (values, subscriber) = try await scene.subscribe(to: Scene.indicated)
        let changes = try await scene.radio.passing {
            let changed = try await scene.connection.characteristic(.serviceChanged, in: .genericAttribute)
            return try await scene.connection.notifications(of: changed)
        }
        let added = try await scene.peripheral.publish(GATTServiceDefinition(uuid: "F00D"))
        let indicating = Task { try await subscriber.indicate([1]) }
        await until { await scene.peripheral.pendingCount == 1 }
        try await scene.radio.passing { try await indicating.value }
        #expect(try await values.first() == [1])
        let handles = added.handles
        let range = [handles.declaration, handles.end].flatMap { handle in
            [UInt8(truncatingIfNeeded: handle.rawValue), UInt8(truncatingIfNeeded: handle.rawValue >> 8)]
        }
        #expect(try await changes.first() == range)
    }

    private static func numbered(_ number: UInt16) -> GATTCharacteristicDefinition {
        let uuid: BluetoothUUID = number.isMultiple(of: 2) ? "F0AA" : BluetoothUUID(0xF100 + number)
        return GATTCharacteristicDefinition(
            uuid: uuid, properties: [.read, .notify], value: .constant([UInt8(number)]),
            descriptors: [.userDescription("number \(number)")])
    }

    @Test("Every discovery procedure finds the published services")
    func discovered() async throws {
        let scene = try await Scene()
        let peripheral = scene.peripheral
        let included = try await peripheral.publish(
            GATTServiceDefinition(
                uuid: "F0F0", isPrimary: false,
                characteristics: [.init(uuid: "F0F1", properties: .read, value: .constant([1]))]))
        let outer: BluetoothUUID = "0F0F0AE8-00BB-47F5-94F4-4A7174EA3032"
        let rich = try await peripheral.publish(
            GATTServiceDefinition(
                uuid: outer, includes: [included.handles.declaration], characteristics: (0..<40).map(Self.numbered)))
        // On a new link, so that the change is not indicated in the middle of a discovery.
        try await scene.connection.disconnect()
        let address = try #require(peripheral.information?.address)
        let connection = try await scene.central.connect(to: address)

        let services = try await connection.discoverServices()
        #expect(services.map(\.uuid) == [.genericAccess, .genericAttribute, Scene.service, outer])
        let found = try await connection.discoverServices(outer)
        #expect(found == services.suffix(1))
        #expect(try await connection.discoverServices("DEAD").isEmpty)
        let includes = try await connection.discoverIncludedServices(of: found[0])
        #expect(includes.map(\.uuid) == ["F0F0"])
        #expect(includes.map(\.startHandle) == [included.handles.declaration])
        let characteristics = try await connection.discoverCharacteristics(of: found[0])
        #expect(characteristics.map(\.valueHandle) == rich.characteristics.map(\.handle))
        #expect(characteristics.map(\.uuid) == rich.characteristics.map(\.uuid))
        #expect(try await connection.discoverCharacteristics("F0AA", of: found[0]).count == 20)
        let descriptors = try await connection.discoverDescriptors(of: characteristics[7])
        #expect(descriptors.map(\.uuid) == [.clientCharacteristicConfiguration, .characteristicUserDescription])
        let description = try #require(descriptors.last)
        #expect(try await connection.read(description) == Array("number 7".utf8))

        let everything = try await connection.discoverAll()
        #expect(everything.services.filter(\.isPrimary) == services)
        #expect(everything.includes == includes)
        #expect(everything.characteristics(of: found[0]).elementsEqual(characteristics))
        #expect(everything.descriptors(of: characteristics[7]).elementsEqual(descriptors))

        await #expect(throws: BluetoothError.notFound("DEAD")) {
            _ = try await connection.characteristic("DEAD", in: outer)
        }
        await #expect(throws: BluetoothError.notFound("DEAD")) {
            _ = try await connection.characteristic("F0AA", in: "DEAD")
        }
    }
}
