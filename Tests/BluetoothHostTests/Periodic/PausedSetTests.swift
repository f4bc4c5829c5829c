import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import Testing

/// A set must yield when the controller's resolving list changes. Synchronized devices would lose the set if its
/// periodic advertising ended as well (Core 5.4, Vol 4, Part E, 7.8.38 and 7.8.63).
@Suite("Periodic advertising of a set that pauses")
struct PausedSetTests {
    var controller = ScriptedController.periodic(
        features: [0x48] + ScriptedController.periodicFeatures.dropFirst(),
        [.leReadResolvingListSize: .complete(.success, [2])]
    ) {
        $0.security = SecurityConfiguration(
            crypto: HostWorld.crypto, entropy: SeededGenerator(seed: 1), resolvingKey: 0x0A)
        $0.peerPrivacyMode = .network
    }

    private static let pause = "LE Set Extended Advertising Enable: 000101000000"
    private static let enable = "LE Set Extended Advertising Enable: 010101000000"
    private static let removal = ["LE Set Periodic Advertising Enable: 0001", "LE Remove Advertising Set: 01"]
    private static let change: [String] = {
        let zeros = String(repeating: "00", count: 15)
        return [
            "LE Add Device To Resolving List: 01" + "0100000000c0" + "65" + zeros + "0a" + zeros,
            "LE Set Address Resolution Enable: 01",
        ]
    }()

    /// A set with periodic advertising is on the air, and a bond is made known.
    private mutating func restoreBond() throws {
        try controller.host.startAdvertising(
            PeriodicAdvertisingTests.parameters(), as: PeriodicAdvertisingTests.set, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        _ = controller.takeEvents()
        let address = DeviceAddress(0xC0_00_00_00_00_01, kind: .random)
        let bond = Bond(
            peer: PeerID(address), address: address, identity: DeviceIdentity(address: address, resolvingKey: 101),
            strength: KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16))
        controller.host.restore(bond, at: controller.now)
    }

    @Test("The set is disabled briefly, and its periodic advertising continues") mutating func goesOn() throws {
        try restoreBond()
        controller.settle()
        #expect(controller.takeCommands() == [Self.pause] + Self.change + [Self.enable])
        #expect(controller.takeEvents() == [], "the caller learns nothing of it")
    }

    @Test("A set whose data changes meanwhile is set up again") mutating func changed() throws {
        try restoreBond()
        try controller.host.startAdvertising(
            PeriodicAdvertisingTests.parameters([1, 2, 3]), as: PeriodicAdvertisingTests.set, at: controller.now)
        controller.settle()
        let commands = controller.takeCommands()
        #expect(Array(commands.prefix(3)) == [Self.pause] + Self.removal)
        #expect(commands.contains(PeriodicAdvertisingTests.setUp) && commands.last == Self.enable)
        #expect(controller.takeEvents() == ["advertising 1"])
    }

    @Test("A set that is stopped meanwhile is removed") mutating func stopped() throws {
        try restoreBond()
        controller.host.stopAdvertising(PeriodicAdvertisingTests.set, at: controller.now)
        controller.settle()
        let commands = controller.takeCommands()
        #expect(Array(commands.prefix(3)) == [Self.pause] + Self.removal)
        #expect(!commands.contains(Self.enable))
    }

    @Test("If the controller refuses to enable the set again, it is removed and set up again")
    mutating func refused() throws {
        try restoreBond()
        controller.answers[.leSetExtendedAdvertisingEnable] = .complete(.commandDisallowed)
        controller.settle()
        let commands = controller.takeCommands()
        #expect(Array(commands.prefix(6)) == [Self.pause] + Self.change + [Self.enable] + Self.removal)
        #expect(commands.dropFirst(6).first == PeriodicAdvertisingTests.setUp)
    }
}
