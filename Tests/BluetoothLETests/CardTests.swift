import BluetoothLE
import Testing
import VirtualRadio

/// The founding use: a peripheral publishes a business card, and a central finds it and gets it in chunks.
@Suite("A business card crosses the air")
struct CardTests {
    static let service: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    static let characteristic: BluetoothUUID = "9D534E8B-2153-4F6D-B2B0-8C68665A7274"
    static let card = Array(#"{"name":"Ada Lovelace","title":"Analyst","mail":"ada@example.org"}"#.utf8)

    @Test(
        "A central finds a peripheral by its advertisement and receives its business card",
        arguments: [Subscriber.ChunkSize.octets(20), .maximum])
    func card(_ chunkSize: Subscriber.ChunkSize) async throws {
        let radio = VirtualRadio()
        let sender = try await Adapter.open(radio.addController())
        let receiver = try await Adapter.open(radio.addController())

        let published = try await sender.publish(
            GATTServiceDefinition(
                uuid: Self.service,
                characteristics: [GATTCharacteristicDefinition(uuid: Self.characteristic, properties: .notify)]))
        let cards = try #require(published[Self.characteristic])
        var advertisement = AdvertisementData()
        advertisement.localName = .complete("BCS")
        advertisement.serviceUUIDs = [Self.service]
        try await sender.advertise(advertisement)
        let sending = Task {
            for try await case .subscribed(let subscriber) in cards.events {
                try await subscriber.sendMessage(Self.card, chunkSize: chunkSize)
                return
            }
        }

        let filter = ScanFilter(services: [Self.service], name: .exact("BCS"), rssi: -70...0)
        let sightings = receiver.scan(for: filter)
        let found = try await sightings.first()
        let sighting = try #require(found)
        let connection = try await receiver.connect(to: sighting.address)
        #expect(connection.mtu == 517)
        let characteristic = try await connection.characteristic(Self.characteristic, in: Self.service)
        let received = try await connection.receiveMessage(from: characteristic)
        #expect(received == Self.card)
        try await connection.disconnect()
        try await sending.value
        #expect(cards.subscribers.isEmpty)
    }
}
