import AdapterTestSupport
import BluetoothAdapter
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothLE

/// Pairing with disks that take their time, or have no room.
@Suite("Slow and full disks", .timeLimit(.minutes(30)))
struct SlowStorageTests {
    private final class Failures: Sendable {
        let all = Mutex<[BondStoreError]>([])
    }

    private func central(
        _ scene: SecureScene, _ failures: Failures, _ draw: @escaping @Sendable () -> SimulatedWrite
    ) async throws -> Adapter {
        var options = AdapterOptions(seed: 3)
        options.bonds = MemoryBondStore()
        options.simulatedWrites = draw
        options.reportBonds = { error in failures.all.withLock { $0.append(error) } }
        let runner = try AdapterRunner(scene.radio.addController(), options: options)
        return try await scene.radio.passing { try await Adapter.open(runner) }
    }

    @Test("Pairing completes only when its bond is stored, and the link keeps working meanwhile")
    func slow() async throws {
        let scene = try await SecureScene(), failures = Failures()
        // Almost as long as the host waits for a bond, because time also passes while this task waits for a processor.
        let central = try await central(scene, failures) { SimulatedWrite(latency: .seconds(25)) }
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await central.connect(to: scene.address)
                let before = scene.radio.now
                async let pairing: Void = connection.pair()
                await until { connection.security.isEncrypted }
                #expect(try await connection.read(try scene.handle(SecureScene.encrypted)) == [1])
                #expect(before.duration(to: scene.radio.now) < .seconds(25))
                try await pairing
                #expect(before.duration(to: scene.radio.now) >= .seconds(25))
            }
        }
        #expect(try await central.bonds.count == 1)
        #expect(failures.all.withLock { $0 } == [])
    }

    @Test("A full disk fails the pairing and is reported, and the next pairing can succeed")
    func full() async throws {
        let scene = try await SecureScene(), failures = Failures(), isFull = Atomic(true)
        let central = try await central(scene, failures) {
            SimulatedWrite(latency: .zero, failure: isFull.load(ordering: .relaxed) ? .diskFull : nil)
        }
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await central.connect(to: scene.address)
                await #expect(throws: BluetoothError.pairingFailed(.bondNotStored(.diskFull))) {
                    try await connection.pair()
                }
                #expect(try await central.bonds.isEmpty)
                #expect(connection.security.isEncrypted)
                isFull.store(false, ordering: .relaxed)
                try await connection.pair(PairRequest(renewsKeys: true))
                #expect(try await central.bonds.count == 1)
            }
        }
        #expect(failures.all.withLock { $0.allSatisfy { $0 == .diskFull } && !$0.isEmpty })
    }

    @Test("A bond is kept if its removal cannot be stored")
    func removal() async throws {
        let scene = try await SecureScene(), failures = Failures(), isFull = Atomic(false)
        let central = try await central(scene, failures) {
            SimulatedWrite(latency: .seconds(1), failure: isFull.load(ordering: .relaxed) ? .diskFull : nil)
        }
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await central.connect(to: scene.address)
                try await connection.pair()
                let peer = try #require(try await central.bonds.first?.peer)
                isFull.store(true, ordering: .relaxed)
                await #expect(throws: BluetoothError.bondNotStored(.diskFull)) {
                    try await central.removeBond(with: peer)
                }
                #expect(try await central.bonds.count == 1)
                isFull.store(false, ordering: .relaxed)
                try await central.removeBond(with: peer)
                #expect(try await central.bonds.isEmpty)
            }
        }
    }

    @Test("An adapter keeps serving its links while the bond store hangs")
    func hanging() async throws {
        let radio = VirtualRadio(time: .system), store = GatedBondStore()
        var options = AdapterOptions(seed: 1)
        options.bonds = store
        let central = try await Adapter.open(radio.addController(), options: options)
        let peripheral = try await Adapter.open(radio.addController(), options: AdapterOptions(seed: 2))
        let service = try await peripheral.publish(
            GATTServiceDefinition(
                uuid: "F100", characteristics: [.init(uuid: "F101", properties: .read, value: .constant([1]))]))
        try await peripheral.advertise(AdvertisementData(name: "Secure"))
        let address = try #require(peripheral.information?.address)
        try await peripheral.withPairingAgent(Consenting()) {
            let connection = try await central.connect(to: address)
            async let pairing: Void = connection.pair()
            await store.reached()
            // The store is writing, and will not be done before it is allowed to.
            #expect(try await connection.read(try #require(service["F101"]).handle) == [1])
            store.open()
            try await pairing
        }
        #expect(try await central.bonds.count == 1)
        await central.close()
        await peripheral.close()
    }
}
