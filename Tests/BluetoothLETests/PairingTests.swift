import AdapterTestSupport
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothLE

/// What the agents of two devices that one person holds let that person see.
final class Screens: Sendable {
    let passkey = AsyncQueue<UInt32>(capacity: 8, overflow: .grow)
    let numbers = Mutex<[UInt32]>([])
}

struct Comparing: NumberComparison {
    let screens: Screens
    func allowsPairing(with peer: Connection, features: PairingFeatures) async -> Bool { true }
    func showPasskey(_ passkey: UInt32, for peer: Connection) async { screens.passkey.push(passkey) }
    func confirmNumber(_ number: UInt32, for peer: Connection) async -> Bool {
        screens.numbers.withLock { $0.append(number) }
        return true
    }
}

struct Displaying: PasskeyDisplay {
    let screens: Screens
    func allowsPairing(with peer: Connection, features: PairingFeatures) async -> Bool { true }
    func showPasskey(_ passkey: UInt32, for peer: Connection) async { screens.passkey.push(passkey) }
}

struct Entering: PasskeyEntry {
    let screens: Screens
    func allowsPairing(with peer: Connection, features: PairingFeatures) async -> Bool { true }
    func enterPasskey(for peer: Connection) async -> UInt32? {
        var iterator = EventSequence(screens.passkey) {}.makeAsyncIterator()
        return (try? await iterator.next()) ?? nil
    }
}

@Suite("Pairing", .timeLimit(.minutes(30)))
struct PairingTests {
    @Test("A peripheral without an agent refuses to pair, and the link stays open")
    func refused() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            let connection = try await scene.central.connect(to: scene.address)
            await #expect(throws: BluetoothError.pairingFailed(.peer(.pairingNotSupported))) {
                try await connection.pair()
            }
            #expect(connection.security == .unprotected)
            let handle = try scene.handle(SecureScene.encrypted)
            await #expect(
                throws: BluetoothError.att(ATTError(.insufficientAuthentication, for: .readRequest, at: handle))
            ) {
                _ = try await connection.read(handle)
            }
        }
    }

    @Test("A central without an agent refuses to pair when a peripheral requests security")
    func refusedRequest() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            let connection = try await scene.central.connect(to: scene.address)
            let server = try #require(scene.peripheral.connections.first)
            await #expect(throws: BluetoothError.pairingFailed(.peer(.pairingNotSupported))) {
                try await server.pair()
            }
            #expect(connection.security == .unprotected)
        }
    }

    @Test("Just Works gives an encrypted link, but no access to authenticated values")
    func justWorks() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await scene.central.connect(to: scene.address)
                try await connection.pair()
                #expect(
                    connection.security
                        == LinkSecurity(
                            isEncrypted: true, usesSecureConnections: true, encryptionKeySize: 16, isBonded: true))
                #expect(try await connection.read(try scene.handle(SecureScene.encrypted)) == [1])
                let handle = try scene.handle(SecureScene.authenticated)
                await #expect(
                    throws: BluetoothError.att(ATTError(.insufficientAuthentication, for: .readRequest, at: handle))
                ) {
                    _ = try await connection.read(handle)
                }
            }
        }
        #expect(try await scene.central.bonds.map(\.strength.model) == [.justWorks])
        #expect(try await scene.peripheral.bonds.map(\.strength.model) == [.justWorks])
    }

    @Test("An adapter that requires authentication refuses Just Works, whatever the call requests")
    func required() async throws {
        let scene = try await SecureScene { $0.requiresAuthentication = true }
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await scene.central.connect(to: scene.address)
                await #expect(throws: BluetoothError.pairingFailed(.local(.authenticationRequirements))) {
                    try await connection.pair()
                }
            }
        }
        #expect(try await scene.central.bonds.isEmpty)
        #expect(try await scene.peripheral.bonds.isEmpty)
    }

    @Test("Two devices with displays compare the same number")
    func numericComparison() async throws {
        let scene = try await SecureScene(), screens = Screens()
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Comparing(screens: screens)) {
                try await scene.central.withPairingAgent(Comparing(screens: screens)) {
                    let connection = try await scene.central.connect(to: scene.address)
                    try await connection.pair(PairRequest(requiresAuthentication: true))
                    #expect(connection.security.isAuthenticated)
                    #expect(try await connection.read(try scene.handle(SecureScene.authenticated)) == [2])
                }
            }
        }
        let numbers = screens.numbers.withLock { $0 }
        #expect(numbers.count == 2 && Set(numbers).count == 1)
    }

    @Test("The passkey shown by one device is entered on the other", arguments: [true, false])
    func passkey(_ centralShows: Bool) async throws {
        let scene = try await SecureScene(), screens = Screens()
        func run(_ central: some PairingAgent, _ peripheral: some PairingAgent) async throws {
            try await scene.radio.passing {
                try await scene.peripheral.withPairingAgent(peripheral) {
                    try await scene.central.withPairingAgent(central) {
                        let connection = try await scene.central.connect(to: scene.address)
                        try await connection.pair(PairRequest(requiresAuthentication: true))
                        #expect(try await connection.read(try scene.handle(SecureScene.authenticated)) == [2])
                    }
                }
            }
        }
        if centralShows {
            try await run(Displaying(screens: screens), Entering(screens: screens))
        } else {
            try await run(Entering(screens: screens), Displaying(screens: screens))
        }
        #expect(try await scene.central.bonds.map(\.strength.model) == [.passkeyEntry])
    }

    @Test("A request refused for lack of encryption is repeated after pairing")
    func onDemand() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                try await scene.central.withPairingAgent(Consenting()) {
                    let connection = try await scene.central.connect(to: scene.address)
                    #expect(try await connection.read(try scene.handle(SecureScene.encrypted)) == [1])
                    try await connection.write([7], to: try scene.handle(SecureScene.encrypted))
                }
            }
        }
        #expect(await scene.service[SecureScene.encrypted]?.value == [7])
    }

    @Test("When pairing completes, the peer has its bond even if the link ends immediately")
    func complete() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await scene.central.connect(to: scene.address)
                try await connection.pair()
                try await connection.disconnect()
            }
        }
        #expect(try await scene.peripheral.bonds.count == 1)
    }

    @Test("A peripheral can request security immediately, whether or not pairing succeeds", arguments: [true, false])
    func askedAtOnce(_ succeeds: Bool) async throws {
        let scene = try await SecureScene { if !succeeds { $0.models = [.numericComparison] } }
        try await scene.radio.passing {
            try await scene.central.withPairingAgent(Consenting()) {
                try await scene.peripheral.withPairingAgent(Consenting()) {
                    let events = scene.peripheral.events()
                    async let asking: Void = {
                        for try await case .connected(let connection) in events {
                            if succeeds { return try await connection.pair() }
                            await #expect(throws: BluetoothError.self) { try await connection.pair() }
                            return
                        }
                    }()
                    let connection = try await scene.central.connect(to: scene.address)
                    try await asking
                    // The central is done when its last keys have been sent, which the peripheral learns first.
                    if succeeds { await until { connection.security.isBonded } }
                    #expect(connection.security.isBonded == succeeds)
                }
            }
        }
    }

    @Test("A controller without a public address keeps the address of its bonds in later runs")
    func staticAddress() async throws {
        let radio = VirtualRadio(time: .manual), bonds = MemoryBondStore()
        let ports = (
            radio.addController { $0.publicAddress = DeviceAddress(0, kind: .public) }, radio.addController()
        )
        try await radio.passing {
            let peripheral = try await Adapter.open(ports.1, seed: 9)
            try await peripheral.advertise(AdvertisementData(name: "Secure"))
            let address = try #require(peripheral.information?.address)
            var addresses: Set<DeviceAddress> = []
            try await peripheral.withPairingAgent(Consenting()) {
                for seed: UInt64 in 1...3 {
                    let central = try await Adapter.open(ports.0, seed: seed, bonds: bonds)
                    addresses.insert(try #require(central.information?.address))
                    let connection = try await central.connect(to: address)
                    if seed == 1 { try await connection.pair() }
                    #expect(connection.security.isBonded)
                    try await connection.disconnect()
                    await central.close()
                }
            }
            #expect(addresses.count == 1)
        }
    }

    @Test("A link to a bonded peer is encrypted automatically before it can be used")
    func bonded() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await scene.central.connect(to: scene.address)
                try await connection.pair()
                try await connection.disconnect()
            }
            let connection = try await scene.central.connect(to: scene.address)
            #expect(connection.security.isEncrypted)
            #expect(try await connection.read(try scene.handle(SecureScene.encrypted)) == [1])
        }
    }

    @Test("A bonded client's subscription is restored, and starts over when the client subscribes again")
    func restored() async throws {
        let scene = try await SecureScene()
        let local = try #require(scene.service[SecureScene.notified])
        let events = local.events
        try await scene.radio.passing {
            var told = events.makeAsyncIterator()
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await scene.central.connect(to: scene.address)
                try await connection.pair()
                let values = try await connection.notifications(of: try await Self.notified(connection))
                guard case .subscribed? = try await told.next() else {
                    Issue.record("not subscribed")
                    return
                }
                try await connection.disconnect()
                guard case .unsubscribed? = try await told.next() else {
                    Issue.record("still subscribed")
                    return
                }
                withExtendedLifetime(values) {}
            }
            let connection = try await scene.central.connect(to: scene.address)
            guard case .subscriptionRestored(let subscriber)? = try await told.next() else {
                Issue.record("not restored")
                return
            }
            #expect(local.subscribers == [subscriber])
            var values = try await connection.notifications(of: try await Self.notified(connection)).makeAsyncIterator()
            guard case .subscribed(subscriber)? = try await told.next() else {
                Issue.record("not begun anew")
                return
            }
            try await subscriber.notify([1])
            #expect(try await values.next() == [1])
        }
    }

    private static func notified(_ connection: Connection) async throws -> DiscoveredCharacteristic {
        let service = try #require(try await connection.discoverServices("F100").first)
        return try #require(try await connection.discoverCharacteristics(SecureScene.notified, of: service).first)
    }

    @Test("A bond that the peripheral has lost ends the link and is not replaced automatically")
    func lostBond() async throws {
        let scene = try await SecureScene()
        try await scene.radio.passing {
            try await scene.peripheral.withPairingAgent(Consenting()) {
                let connection = try await scene.central.connect(to: scene.address)
                try await connection.pair()
                try await connection.disconnect()
                let bond = try #require(await scene.peripheral.bonds.first)
                try await scene.peripheral.removeBond(with: bond.peer)
                await #expect(throws: BluetoothError.disconnected(.encryption(.pinOrKeyMissing))) {
                    _ = try await scene.central.connect(to: scene.address)
                }
                #expect(try await scene.central.bonds.count == 1)
                try await scene.central.removeBond(with: PeerID(scene.address))
                let anew = try await scene.central.connect(to: scene.address)
                try await anew.pair()
                #expect(try await anew.read(try scene.handle(SecureScene.encrypted)) == [1])
            }
        }
    }
}
