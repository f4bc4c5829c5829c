import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Several links at once", .timeLimit(.minutes(30)))
struct RoleTests {
    /// A service that says whose it is.
    private static func definition(_ number: Int) -> GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: Scene.service,
            characteristics: [
                .init(uuid: Scene.stored, properties: .read, value: .constant([UInt8(number)])),
                .init(uuid: Scene.notified, properties: .notify, value: .dynamic),
            ])
    }

    private func open(_ count: Int, on radio: VirtualRadio) async throws -> [(adapter: Adapter, address: DeviceAddress)]
    {
        var opened: [(adapter: Adapter, address: DeviceAddress)] = []
        for number in 0..<count {
            let adapter = try await Adapter.open(radio.addController())
            _ = try await adapter.publish(Self.definition(number))
            try await adapter.advertise(AdvertisementData(name: "\(number)"))
            opened.append((adapter, try #require(adapter.information?.address)))
        }
        return opened
    }

    @Test("Adapters can all connect to each other, as central to some and peripheral to the rest")
    func everybody() async throws {
        let radio = VirtualRadio()
        let nodes = try await open(4, on: radio)
        for first in 0..<4 {
            for second in first + 1..<4 { _ = try await nodes[first].adapter.connect(to: nodes[second].address) }
        }
        for (number, node) in nodes.enumerated() {
            await until { node.adapter.connections.count == 3 }
            for connection in node.adapter.connections {
                let other = try #require(nodes.firstIndex { $0.address == connection.address })
                #expect(connection.role == (other > number ? .central : .peripheral))
                // Either end of a link is a client of the other, whoever made the connection.
                let values = try await connection.readValues(of: Scene.stored).map(\.value)
                #expect(values == [[UInt8(other)]])
            }
        }
        for node in nodes { await node.adapter.close() }
    }

    @Test("One central connects to several peripherals at once")
    func manyPeripherals() async throws {
        let radio = VirtualRadio()
        let nodes = try await open(6, on: radio)
        let central = try await Adapter.open(radio.addController())
        let links = try await withThrowingTaskGroup { group in
            for node in nodes {
                group.addTask {
                    let connection = try await central.connect(to: node.address)
                    return (connection, try await connection.read(Scene.stored))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(links.map(\.1)) == Set((0..<6).map { [UInt8($0)] }))
        // A link ends when its connection is released.
        #expect(central.connections.count == 6)
        withExtendedLifetime(links) {}
        await central.close()
    }

    @Test("A peripheral notifies each of several centrals separately")
    func manyCentrals() async throws {
        let radio = VirtualRadio()
        let peripheral = try await Adapter.open(radio.addController())
        let service = try await peripheral.publish(Self.definition(9))
        let notified = try #require(service[Scene.notified])
        try await peripheral.advertise(AdvertisementData())
        let address = try #require(peripheral.information?.address)
        var streams: [PeerID: EventSequence<[UInt8]>] = [:]
        var centrals: [Adapter] = []
        for _ in 0..<4 {
            let central = try await Adapter.open(radio.addController())
            centrals.append(central)
            let connection = try await central.connect(to: address)
            let found = try await connection.characteristic(Scene.notified, in: Scene.service)
            streams[PeerID(try #require(central.information?.address))] = try await connection.notifications(of: found)
        }
        let subscribers = notified.subscribers
        #expect(Set(subscribers.map(\.connection.peer)) == Set(streams.keys))
        for (number, subscriber) in subscribers.enumerated() { try await subscriber.notify([UInt8(number)]) }
        for (number, subscriber) in subscribers.enumerated() {
            #expect(try await streams[subscriber.connection.peer]?.first() == [UInt8(number)])
        }
        for central in centrals { await central.close() }
        await peripheral.close()
    }
}
