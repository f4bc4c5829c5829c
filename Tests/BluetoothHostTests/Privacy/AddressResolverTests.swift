import BluetoothBase
import BluetoothCrypto
import BluetoothSMP
import BluetoothSimulation
import Synchronization
import Testing

@testable import BluetoothHost

@Suite("Whose private address it is")
struct AddressResolverTests {
    /// A toolbox that counts how often it encrypts a block.
    final class CountingToolbox: CryptoToolbox {
        let count = Mutex(0)

        func encrypt(key: UInt128, block: UInt128) -> UInt128 {
            count.withLock { $0 += 1 }
            return HostWorld.crypto.encrypt(key: key, block: block)
        }

        func authenticationCode(key: UInt128, message: [UInt8]) -> UInt128 { 0 }
        func keyPair(privateKey: FieldElement) -> P256KeyPair? { nil }
        func sharedSecret(privateKey: FieldElement, peer: P256PublicKey) -> FieldElement? { nil }
    }

    private func peer(_ number: UInt64) -> PeerID { PeerID(DeviceAddress(0xC0_00_00_00_00_00 | number, kind: .random)) }

    private func identity(_ number: UInt64, key: UInt128) -> DeviceIdentity {
        DeviceIdentity(address: peer(number).firstAddress, resolvingKey: key)
    }

    private func address(of key: UInt128, _ seed: UInt64 = 1) -> DeviceAddress {
        var entropy = SeededGenerator(seed: seed)
        return HostWorld.crypto.resolvablePrivateAddress(resolvingKey: key, entropy: &entropy)
    }

    @Test("Keys are tried once for each address, be it resolved or not, until bonds change")
    func remembered() {
        let toolbox = CountingToolbox()
        var resolver = AddressResolver(crypto: toolbox)
        #expect(!resolver.mayResolve(address(of: 1)))
        resolver.set(identity(1, key: 1), of: peer(1))
        resolver.set(identity(2, key: 2), of: peer(2))
        for _ in 0..<3 {
            #expect(resolver.resolve(address(of: 2)) == peer(2))
            #expect(resolver.resolve(address(of: 3)) == nil)
        }
        #expect(toolbox.count.withLock { $0 } == 4)
        resolver.set(identity(3, key: 3), of: peer(3))
        #expect(resolver.resolve(address(of: 3)) == peer(3))
        resolver.set(nil, of: peer(2))
        #expect(resolver.resolve(address(of: 2)) == nil)
        // The same again changes nothing.
        let count = toolbox.count.withLock { $0 }
        resolver.set(identity(3, key: 3), of: peer(3))
        #expect(resolver.resolve(address(of: 2)) == nil)
        #expect(toolbox.count.withLock { $0 } == count)
    }

    /// Core 5.4, Vol 6, Part B, 1.3.2.2: only a random address whose two top bits are 01 is resolvable.
    static let unresolvable: [DeviceAddress] = [
        DeviceAddress(0x40_00_00_00_00_01, kind: .public), DeviceAddress(0xC0_00_00_00_00_01, kind: .random),
        DeviceAddress(0x00_00_00_00_00_01, kind: .random), DeviceAddress(0x80_00_00_00_00_01, kind: .random),
        DeviceAddress(0x40_00_00_00_00_01, kind: .randomIdentity),
    ]

    @Test("Nothing is tried on other addresses", arguments: unresolvable)
    func others(_ address: DeviceAddress) {
        let toolbox = CountingToolbox()
        var resolver = AddressResolver(crypto: toolbox)
        resolver.set(identity(1, key: 1), of: peer(1))
        #expect(resolver.resolve(address) == nil)
        #expect(toolbox.count.withLock { $0 } == 0)
    }

    @Test("S13: a key of 0 is none")
    func zero() {
        var resolver = AddressResolver(crypto: HostWorld.crypto)
        resolver.set(identity(1, key: 0), of: peer(1))
        #expect(resolver.keys.isEmpty && resolver.listed.isEmpty)
        resolver.set(identity(2, key: 2), of: peer(2))
        #expect(resolver.resolve(address(of: 0)) == nil)
    }

    @Test("Of two bonds with one key the older is meant, and only that is listed")
    func sameKey() {
        var resolver = AddressResolver(crypto: HostWorld.crypto)
        for number in 1...3 as ClosedRange<UInt64> {
            resolver.set(identity(number, key: number == 3 ? 1 : UInt128(number)), of: peer(number))
        }
        #expect(resolver.resolve(address(of: 1)) == peer(1))
        #expect(resolver.listed == [identity(2, key: 2), identity(1, key: 1)], "the newest first")
        resolver.set(nil, of: peer(1))
        #expect(resolver.resolve(address(of: 1)) == peer(3))
    }

    @Test("Memory is bounded")
    func bounded() {
        var resolver = AddressResolver(crypto: HostWorld.crypto)
        resolver.set(identity(1, key: 1), of: peer(1))
        let known = address(of: 1)
        for number in 0..<20_000 as Range<UInt64> {
            #expect(resolver.resolve(DeviceAddress(0x41_00_00_00_00_00 | number, kind: .random)) == nil)
        }
        #expect(resolver.resolve(known) == peer(1))
    }
}
