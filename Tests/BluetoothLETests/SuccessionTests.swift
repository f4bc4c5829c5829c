import BluetoothLE
import Testing
import VirtualRadio

@Suite("One controller, one adapter after the other", .timeLimit(.minutes(30)))
struct SuccessionTests {
    @Test("An adapter that closes late leaves the controller to the one that has it now")
    func lateClose() async throws {
        let radio = VirtualRadio()
        let (port, other) = (radio.addController(), radio.addController())
        let first = try await Adapter.open(port)
        let second = try await Adapter.open(port)
        try await second.advertise(AdvertisementData())
        await first.close()
        let observer = try await Adapter.open(other)
        let address = try #require(second.information?.address)
        let sighting = try await observer.firstSighting(for: ScanFilter())
        #expect(sighting.address == address)
        await second.stopAdvertising()
        try await second.advertise(AdvertisementData())
        _ = try await observer.firstSighting(for: ScanFilter())
    }
}
