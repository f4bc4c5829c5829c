import AdapterTestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Advertising sets", .timeLimit(.minutes(30)))
struct AdvertisingSetTests {
    let radio = VirtualRadio(time: .manual)

    private func adapters(extended isExtended: Bool = true) async throws -> (scanner: Adapter, advertiser: Adapter) {
        let ports = [true, isExtended].map { isExtended in
            radio.addController { $0.hasExtendedAdvertising = isExtended }
        }
        return (try await Adapter.open(ports[0]), try await Adapter.open(ports[1]))
    }

    private static func beacon(_ data: [UInt8], sid: UInt8) -> AdvertisingParameters {
        AdvertisingParameters(isConnectable: false, data: data, extended: ExtendedAdvertising(sid: sid))
    }

    @Test("several sets advertise at once, beside ordinary advertising, each until it is stopped")
    func several() async throws {
        let (scanner, advertiser) = try await adapters()
        let long = [UInt8](repeating: 0, count: 1000)
        let sets = try await radio.passing {
            try await advertiser.advertise(AdvertisementData(name: "Sets"))
            return [
                try await advertiser.addAdvertisingSet(Self.beacon(long, sid: 4)),
                try await advertiser.addAdvertisingSet(Self.beacon([2, 10, 0], sid: 5)),
            ]
        }
        let sightings = scanner.scan()
        let seen = try await radio.passing {
            var seen: [UInt8?: Int] = [:]
            for try await sighting in sightings {
                seen[sighting.details.sid] = sighting.advertisingData.count
                if seen.count == 3 { break }
            }
            return seen
        }
        #expect(seen[4] == 1000 && seen[5] == 3 && seen[nil] != nil)
        sets[0].stop()
        // It is over for those who wait for it, and stopping it again does nothing.
        try await sets[0].waitUntilEnded()
        sets[0].stop()
        try await radio.passing { await advertiser.close() }
        await #expect(throws: BluetoothError.adapterClosed) { try await sets[1].waitUntilEnded() }
    }

    @Test(
        "directed advertising at the high duty cycle ends automatically, or when the peer connects",
        arguments: [false, true])
    func highDutyCycle(_ isExtended: Bool) async throws {
        let (central, advertiser) = try await adapters(extended: isExtended)
        let peer = PeerID(try #require(central.information?.address))
        var parameters = AdvertisingParameters(data: [], peer: peer)
        parameters.isHighDutyCycle = true
        try await radio.passing { [parameters] in
            try await advertiser.addAdvertisingSet(parameters).waitUntilEnded()
            let address = try #require(advertiser.information?.address)
            async let connection = central.connect(to: address)
            while advertiser.connections.isEmpty {
                try await advertiser.addAdvertisingSet(parameters).waitUntilEnded()
            }
            #expect(try await connection.peer == PeerID(address))
        }
    }

    @Test("a set limited to three events ends after them") func counted() async throws {
        let (_, advertiser) = try await adapters()
        try await radio.passing {
            var parameters = Self.beacon([1], sid: 0)
            parameters.maximumEvents = 3
            try await advertiser.addAdvertisingSet(parameters).waitUntilEnded()
        }
    }

    @Test("without extended advertising, an extended set fails, naming the missing feature, and a legacy set works")
    func legacy() async throws {
        let (_, advertiser) = try await adapters(extended: false)
        try await radio.passing {
            let error = await #expect(throws: BluetoothError.self) {
                try await advertiser.addAdvertisingSet(Self.beacon([1], sid: 0))
            }
            #expect(error?.code == .notSupported && error?.missingFeature == .extendedAdvertising)
            _ = try await advertiser.addAdvertisingSet(AdvertisingParameters(data: [2, 1, 6]))
        }
    }
}
