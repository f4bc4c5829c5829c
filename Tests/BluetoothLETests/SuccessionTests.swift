import BluetoothLE
import Testing
import VirtualRadio

@Suite("Successive adapters on one controller", .timeLimit(.minutes(30)))
struct SuccessionTests {
    @Test("Closing an adapter late does not disturb its successor on the controller")
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
        second.stopAdvertising()
        try await second.advertise(AdvertisementData())
        _ = try await observer.firstSighting(for: ScanFilter())
    }
}
