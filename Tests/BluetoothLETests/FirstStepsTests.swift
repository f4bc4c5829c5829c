import BluetoothLE
import Foundation
import Testing
import VirtualRadio

/// The API as one would guess it, with nothing but its public declarations.
@Suite("First steps", .timeLimit(.minutes(30)))
struct FirstStepsTests {
    static let heartRate = GATTServiceDefinition(
        uuid: "180D",
        characteristics: [
            .init(uuid: "2A37", properties: .notify, value: .dynamic, descriptors: [.userDescription("rate")]),
            .init(uuid: "2A39", properties: [.write, .writeWithoutResponse], value: .variableLength([])),
        ])
    static let battery = GATTServiceDefinition(
        uuid: "180F", characteristics: [.init(uuid: "2A19", properties: .read, value: .variableLength([87]))])

    private struct Scene {
        let central, peripheral: Adapter
        let services: [PublishedService]
        let sighting: Sighting
    }

    private func found(_ radio: VirtualRadio) async throws -> Scene {
        let central = try await Adapter.open(radio.addController())
        let peripheral = try await Adapter.open(radio.addController())
        let services = try await peripheral.publish([Self.heartRate, Self.battery])
        var advertisement = AdvertisementData()
        advertisement.serviceUUIDs = ["180D"]
        try await peripheral.advertise(advertisement)
        for try await sighting in central.scan(for: ScanFilter(services: ["180D"])) {
            return Scene(central: central, peripheral: peripheral, services: services, sighting: sighting)
        }
        throw BluetoothError.adapterClosed
    }

    @Test("A central connects to a sighting, and the peer's services list their characteristics")
    func services() async throws {
        let scene = try await found(VirtualRadio())
        let (central, sighting) = (scene.central, scene.sighting)
        let connection = try await central.connect(to: sighting)
        #expect(connection.isConnected)
        #expect(connection.peer == sighting.peer)
        #expect(connection.address == sighting.address)
        #expect(central.connections == [connection])
        #expect(try await connection.rssi() != nil)

        let services = try await connection.services()
        #expect(services.map(\.uuid).suffix(2) == ["180D", "180F"])
        let service = try #require(try await connection.services("180D").first)
        #expect(service.characteristics.map(\.uuid) == ["2A37", "2A39"])
        let rate = try #require(service["2A37"])
        #expect(service.descriptors(of: rate).map(\.uuid) == ["2902", "2901"])
        #expect(service["2A19"] == nil)

        try await connection.disconnect()
        #expect(!connection.isConnected)
        await central.close()
        await scene.peripheral.close()
    }

    @Test("Values are read, written and subscribed to by UUID, and any collection of octets can be written")
    func values() async throws {
        let scene = try await found(VirtualRadio())
        let (central, sighting) = (scene.central, scene.sighting)
        let connection = try await central.connect(to: sighting)
        #expect(try await connection.read("2A19") == [87])
        #expect(try await connection.read("2A19", in: "180F") == [87])
        await #expect(throws: BluetoothError.notFound("2A19")) { try await connection.read("2A19", in: "180D") }
        await #expect(throws: BluetoothError.notFound("181A")) { try await connection.read("2A19", in: "181A") }

        let (rate, control) = (try #require(scene.services[0]["2A37"]), try #require(scene.services[0]["2A39"]))
        try await connection.write(Data([1, 2]), to: "2A39", in: "180D")
        #expect(await control.value == [1, 2])
        try await connection.write([3, 4][...], to: "2A39")
        #expect(await control.value == [3, 4])
        let remote = try await connection.characteristic("2A39", in: "180D")
        try await connection.writeWithoutResponse(repeatElement(5, count: 3), to: remote)
        // Its response shows that the command before it has arrived.
        _ = try await connection.read("2A19")
        #expect(await control.value == [5, 5, 5])
        let values = try await connection.notifications(of: "2A37")
        try await #require(rate.subscribers.first).notify(Data([0, 72]))
        for try await value in values {
            #expect(value == [0, 72])
            break
        }
        await central.close()
        await scene.peripheral.close()
    }

    @Test("Iterating a scan throws if the adapter is closed")
    func closed() async throws {
        let adapter = try await Adapter.open(VirtualRadio().addController())
        await adapter.close()
        await #expect(throws: BluetoothError.adapterClosed) { for try await _ in adapter.scan() {} }
    }
}
