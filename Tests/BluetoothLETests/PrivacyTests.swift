import AdapterTestSupport
import BluetoothLE
import Testing
import VirtualRadio

@Suite("Devices with private addresses", .timeLimit(.minutes(30)))
struct PrivacyTests {
    @Test("A bonded device keeps its peer identity as its address rotates", arguments: [false, true])
    func rotation(_ resolvesInController: Bool) async throws {
        let radio = VirtualRadio(time: .manual)
        var centralOptions = AdapterOptions(seed: 1), peripheralOptions = AdapterOptions(seed: 2)
        centralOptions.bonds = MemoryBondStore()
        peripheralOptions.bonds = MemoryBondStore()
        peripheralOptions.host.privacy = .resolvable(rotation: .seconds(60))
        let ports = (radio.addController { $0.hasPrivacy = resolvesInController }, radio.addController())
        let options = (centralOptions, peripheralOptions)
        let filter = ScanFilter(name: .exact("Private"))
        let (central, peripheral, first) = try await radio.passing {
            let central = try await Adapter.open(ports.0, options: options.0)
            let peripheral = try await Adapter.open(ports.1, options: options.1)
            try await peripheral.advertise(AdvertisementData(name: "Private"))
            let sighting = try await central.firstSighting(for: filter)
            try await peripheral.withPairingAgent(Consenting()) {
                let connection = try await central.connect(to: sighting.address)
                try await connection.pair()
                try await connection.disconnect()
            }
            return (central, peripheral, sighting)
        }
        #expect(first.address.randomKind == .resolvablePrivate)
        for _ in 0..<3 {
            await radio.advance(by: .seconds(61))
            try await radio.passing {
                let sighting = try await central.firstSighting(for: filter)
                #expect(sighting.peer == first.peer)
                #expect(sighting.address != first.address)
                let known = try await central.firstSighting(for: ScanFilter(peers: [first.peer]))
                #expect(known.address == sighting.address)
                let connection = try await central.connect(to: sighting)
                #expect(connection.security.isEncrypted)
                try await connection.disconnect()
            }
        }
        await central.close()
        await peripheral.close()
    }
}
