import BluetoothBase
import BluetoothCrypto
import BluetoothHCI
import BluetoothSMP
import BluetoothSimulation
import Synchronization
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Private addresses in a crowd")
struct CrowdTests {
    /// A toolbox whose blocks cost next to nothing and are counted.
    private final class CheapToolbox: CryptoToolbox {
        let count = Mutex(0)

        func encrypt(key: UInt128, block: UInt128) -> UInt128 {
            count.withLock { $0 += 1 }
            return ((key ^ block) &* 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835) >> 64
        }

        func authenticationCode(key: UInt128, message: [UInt8]) -> UInt128 { 0 }
        func keyPair(privateKey: FieldElement) -> P256KeyPair? { nil }
        func sharedSecret(privateKey: FieldElement, publicKey: P256PublicKey) -> FieldElement? { nil }
    }

    /// A host that scans, with bonds whose keys are 1, 2, 3 and so on.
    private func scanning(
        bonds: Int, crypto: any CryptoToolbox = LibraryToolbox()
    ) throws -> ScriptedController {
        var controller = SecurityTests.ready { configuration in
            configuration.security = SecurityConfiguration(
                crypto: crypto, entropy: SeededGenerator(seed: 1), resolvingKey: 1)
        }
        for number in 1...bonds {
            let address = Self.identity(number)
            controller.host.restore(
                Bond(
                    peer: PeerID(address), address: address,
                    identity: DeviceIdentity(address: address, resolvingKey: UInt128(number)),
                    strength: SecurityTests.strength), at: controller.now)
        }
        controller.settle()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.settle()
        controller.seen.removeAll()
        return controller
    }

    private static func identity(_ number: Int) -> DeviceAddress {
        DeviceAddress(0xC0_00_00_00_00_00 | UInt64(number), kind: .random)
    }

    /// An address of the bond with this number; of a stranger if no bond has it.
    private static func address(of number: Int, _ seed: UInt64 = 1) -> DeviceAddress {
        var entropy = SeededGenerator(seed: seed)
        return LibraryToolbox().resolvablePrivateAddress(resolvingKey: UInt128(number), entropy: &entropy)
    }

    private func report(_ address: DeviceAddress, _ number: UInt8 = 0, to controller: inout ScriptedController) {
        let octets = (0..<6).map { UInt8(truncatingIfNeeded: address.value >> UInt64(8 * $0)) }
        controller.receive([4, 0x3E, 0x0F, 2, 1, 0, 1] + octets + [3, 2, 0xFF, number, 0xD8])
    }

    /// The reports since the last call: the peer, and the last octet of the data.
    private func take(_ controller: inout ScriptedController) -> [String] {
        defer { controller.seen.removeAll() }
        return controller.seen.compactMap { seen in
            guard case .advertisement(let advertisement) = seen.event else { return nil }
            return "\(advertisement.peer) \(seen.bytes.last ?? 0)"
        }
    }

    private func line(_ address: DeviceAddress, _ number: UInt8 = 0) -> String { "\(PeerID(address)) \(number)" }

    @Test("The first new address after a quiet period is resolved at once")
    func first() throws {
        var controller = try scanning(bonds: 3)
        report(Self.address(of: 2), to: &controller)
        #expect(take(&controller) == [line(Self.identity(2))])
        // From then on it is known.
        report(Self.address(of: 2), 1, to: &controller)
        #expect(take(&controller) == [line(Self.identity(2), 1)])
        controller.run(for: UnresolvedReports.interval)
        report(Self.address(of: 77), 2, to: &controller)
        #expect(take(&controller) == [line(Self.address(of: 77), 2)])
    }

    @Test("Further new addresses are reported later, with the identity, each once and in order")
    func later() throws {
        var controller = try scanning(bonds: 3)
        report(Self.address(of: 1), to: &controller)
        _ = take(&controller)
        let (friend, stranger) = (Self.address(of: 2), Self.address(of: 77))
        for number in 1...3 as ClosedRange<UInt8> {
            report(friend, number, to: &controller)
            report(stranger, number, to: &controller)
        }
        // Reports of known addresses do not wait.
        report(Self.address(of: 1), 9, to: &controller)
        #expect(take(&controller) == [line(Self.identity(1), 9)])
        controller.run(for: UnresolvedReports.interval - .milliseconds(1))
        #expect(take(&controller) == [])
        controller.run(for: .milliseconds(1))
        #expect(
            take(&controller)
                == (1...3 as ClosedRange<UInt8>).flatMap { [line(Self.identity(2), $0), line(stranger, $0)] })
        controller.run(for: .seconds(10))
        #expect(take(&controller) == [])
    }

    @Test("With many bonds, only some keys are tried per turn")
    func turns() throws {
        let bonds = 2 * UnresolvedReports.keysPerTurn + 1
        var controller = try scanning(bonds: bonds)
        report(Self.address(of: bonds), to: &controller)
        for turn in 0..<3 {
            #expect(take(&controller) == (turn < 2 ? [] : [line(Self.identity(bonds))]))
            guard turn < 2 else { break }
            #expect(controller.host.nextDeadline.map { $0 <= controller.now } == true)
            controller.host.fire(at: controller.now)
            controller.settle()
        }
    }

    @Test("A crowd of any size is reported, each device once")
    func flood() throws {
        var controller = try scanning(bonds: 2)
        let count = 2 * UnresolvedReports.capacity
        for seed in 1...UInt64(count) { report(Self.address(of: 1 + Int(seed % 3), seed), to: &controller) }
        controller.run(for: .seconds(1))
        let reports = take(&controller)
        #expect(reports.count == count)
        for number in 1...2 {
            let expected = (1...count).count { 1 + $0 % 3 == number }
            #expect(reports.count { $0 == line(Self.identity(number)) } == expected)
        }
    }

    @Test("Above the capacity each report tries a few keys, and no report is dropped or shown twice")
    func boundedWork() throws {
        let toolbox = CheapToolbox(), bonds = 320
        var controller = try scanning(bonds: bonds, crypto: toolbox)
        let count = UnresolvedReports.capacity + 300
        var entropy = SeededGenerator(seed: 7)
        var expected: [String: Int] = [:], most = 0
        for index in 0..<count {
            // Every third is one of a bond.
            let number = index % 3 == 0 ? 1 + index % bonds : 10_000 + index
            let address = toolbox.resolvablePrivateAddress(resolvingKey: UInt128(number), entropy: &entropy)
            let shown = number <= bonds ? Self.identity(number) : address
            expected[line(shown, UInt8(truncatingIfNeeded: index)), default: 0] += 1
            let before = toolbox.count.withLock { $0 }
            let isFull = controller.host.unresolved.count + 1 >= UnresolvedReports.capacity
            report(address, UInt8(truncatingIfNeeded: index), to: &controller)
            if isFull { most = max(most, toolbox.count.withLock { $0 } - before) }
            #expect(controller.host.unresolved.count <= UnresolvedReports.capacity + UnresolvedReports.keysPerReport)
        }
        #expect((1...UnresolvedReports.keysPerReport * AddressSearch.capacity).contains(most))
        controller.run(for: .seconds(5))
        #expect(controller.host.unresolved.isEmpty)
        var found: [String: Int] = [:]
        for line in take(&controller) { found[line, default: 0] += 1 }
        #expect(found == expected)
    }

    @Test("Bonds made or removed while reports wait are taken into account")
    func changed() throws {
        var controller = try scanning(bonds: 2)
        report(Self.address(of: 1), to: &controller)
        _ = take(&controller)
        report(Self.address(of: 2), to: &controller)
        report(Self.address(of: 3), to: &controller)
        controller.host.removeBond(with: PeerID(Self.identity(2)), at: controller.now)
        controller.host.restore(
            Bond(
                peer: PeerID(Self.identity(3)), address: Self.identity(3),
                identity: DeviceIdentity(address: Self.identity(3), resolvingKey: 3),
                strength: SecurityTests.strength), at: controller.now)
        controller.run(for: .seconds(1))
        #expect(take(&controller) == [line(Self.address(of: 2)), line(Self.identity(3))])
    }

    @Test("When the last bond is removed, later reports of an address do not overtake those that wait")
    func lastBondRemoved() throws {
        var controller = try scanning(bonds: 1)
        report(Self.address(of: 1), to: &controller)
        _ = take(&controller)
        let (waiting, other) = (Self.address(of: 77), Self.address(of: 78))
        report(waiting, 1, to: &controller)
        controller.host.removeBond(with: PeerID(Self.identity(1)), at: controller.now)
        report(waiting, 2, to: &controller)
        #expect(take(&controller) == [])
        // Without bonds there is nothing to resolve: an address with no reports before it need not wait.
        report(other, 3, to: &controller)
        #expect(take(&controller) == [line(other, 3)])
        controller.run(for: UnresolvedReports.interval)
        #expect(take(&controller) == [line(waiting, 1), line(waiting, 2)])
        report(waiting, 4, to: &controller)
        #expect(take(&controller) == [line(waiting, 4)])
    }

    @Test("Stopping a scan discards the reports that wait")
    func stopped() throws {
        var controller = try scanning(bonds: 1)
        report(Self.address(of: 1), to: &controller)
        report(Self.address(of: 2), to: &controller)
        _ = take(&controller)
        controller.host.stopScanning(at: controller.now)
        controller.settle()
        try controller.host.startScanning(ScanParameters(), at: controller.now)
        controller.run(for: .seconds(1))
        #expect(take(&controller) == [])
    }
}
