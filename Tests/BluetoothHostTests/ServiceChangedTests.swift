import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Database changes are indicated to peers (GATT/SR/GAS/BV-01)")
struct ServiceChangedTests {
    static let definition = GATTServiceDefinition(
        uuid: "180F", characteristics: [GATTCharacteristicDefinition(uuid: "2A19", properties: .read)])

    private func connected(_ world: inout HostWorld) throws -> HostWorld.Pair {
        let peripheral = world.start(), central = world.start()
        let pair = world.connect(central, to: peripheral)
        return try #require(pair)
    }

    /// Lets the central subscribe to Service Changed.
    private func subscribe(_ pair: HostWorld.Pair, _ world: inout HostWorld) throws {
        let central = pair.central
        _ = try world.hosts[central].start(.discoverAll(includes: false), on: pair.centralLink, at: world.now)
        let discovered = world.next(central) { $0.event.completed }
        guard case .database(let database)? = discovered,
            let changed = database.characteristics.first(where: { $0.uuid == .serviceChanged }),
            let descriptor = database.descriptors(of: changed).last
        else { throw CancellationError() }
        _ = try world.hosts[central].start(
            .configure(descriptor: descriptor.handle, .indications), on: pair.centralLink, at: world.now)
        let written = world.next(central) { $0.event.completed }
        try #require(written == .written)
    }

    private func subscribed(_ world: inout HostWorld) throws -> HostWorld.Pair {
        let pair = try connected(&world)
        try subscribe(pair, &world)
        return pair
    }

    private func indication(_ world: inout HostWorld, _ central: Int) -> [UInt8]? {
        world.next(central, within: .seconds(2)) {
            if case .client(_, .indication) = $0.event { $0.bytes } else { nil }
        }
    }

    @Test("services that are added or removed are indicated once the peer has subscribed, and not before")
    func addedAndRemoved() throws {
        var world = HostWorld()
        let pair = try connected(&world)
        let before = try world.hosts[pair.peripheral].addService(Self.definition, at: world.now)
        #expect(indication(&world, pair.central) == nil)
        try world.hosts[pair.peripheral].removeService(before.declaration, at: world.now)
        #expect(indication(&world, pair.central) == nil)
        try subscribe(pair, &world)
        let handles = try world.hosts[pair.peripheral].addService(Self.definition, at: world.now)
        #expect(handles.range == 0x000C...0x000E)
        #expect(indication(&world, pair.central) == bytes("0C 00 0E 00"))
        try world.hosts[pair.peripheral].removeService(handles.declaration, at: world.now)
        #expect(indication(&world, pair.central) == bytes("0C 00 0E 00"))
    }

    @Test("changes while an indication is unconfirmed are indicated together, once")
    func together() throws {
        var world = HostWorld()
        let pair = try subscribed(&world)
        for _ in 0..<3 { _ = try world.hosts[pair.peripheral].addService(Self.definition, at: world.now) }
        #expect(indication(&world, pair.central) == bytes("0C 00 0E 00"))
        #expect(indication(&world, pair.central) == bytes("0F 00 14 00"))
        #expect(indication(&world, pair.central) == nil)
    }

    @Test("a peer without a subscription gets no indication")
    func notAsked() throws {
        var world = HostWorld()
        let peripheral = world.start(), central = world.start()
        let connected = world.connect(central, to: peripheral)
        try #require(connected != nil)
        _ = try world.hosts[peripheral].addService(Self.definition, at: world.now)
        #expect(indication(&world, central) == nil)
    }
}
