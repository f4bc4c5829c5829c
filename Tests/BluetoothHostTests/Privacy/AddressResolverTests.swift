import BluetoothBase
import BluetoothCrypto
import BluetoothSMP
import BluetoothSimulation
import Synchronization
import Testing

@testable import BluetoothHost

@Suite("Resolving private addresses")
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
        func sharedSecret(privateKey: FieldElement, publicKey: P256PublicKey) -> FieldElement? { nil }
    }

    private func peer(_ number: UInt64) -> PeerID { PeerID(DeviceAddress(0xC0_00_00_00_00_00 | number, kind: .random)) }

    private func identity(_ number: UInt64, key: UInt128) -> DeviceIdentity {
        DeviceIdentity(address: peer(number).firstAddress, resolvingKey: key)
    }

    private func address(of key: UInt128, _ seed: UInt64 = 1) -> DeviceAddress {
        var entropy = SeededGenerator(seed: seed)
        return HostWorld.crypto.resolvablePrivateAddress(resolvingKey: key, entropy: &entropy)
    }

    @Test("Each key is tried once per address, resolved or not, even when bonds change")
    func remembered() {
        let toolbox = CountingToolbox()
        func tries() -> Int {
            toolbox.count.withLock { count in
                defer { count = 0 }
                return count
            }
        }
        var resolver = AddressResolver(crypto: toolbox)
        #expect(!resolver.mayResolve(address(of: 1)))
        resolver.set(identity(1, key: 1), of: peer(1))
        resolver.set(identity(2, key: 2), of: peer(2))
        for _ in 0..<3 {
            #expect(resolver.resolve(address(of: 2)) == peer(2))
            #expect(resolver.resolve(address(of: 3)) == nil)
        }
        #expect(tries() == 4)
        // A new key is tried on strangers alone.
        resolver.set(identity(3, key: 3), of: peer(3))
        #expect(tries() == 0)
        #expect(resolver.search(address(of: 3)) == peer(3))
        #expect(resolver.resolve(address(of: 3)) == peer(3))
        #expect(tries() == 2)
        #expect(resolver.search(address(of: 3)) == peer(3))
        #expect(resolver.resolve(address(of: 2)) == peer(2))
        #expect(tries() == 0)
        // The addresses of a peer that is gone are anybody's.
        resolver.set(nil, of: peer(2))
        #expect(resolver.resolve(address(of: 2)) == nil)
        #expect(tries() == 2)
        #expect(resolver.resolve(address(of: 3)) == peer(3))
        resolver.set(identity(3, key: 3), of: peer(3))
        #expect(resolver.resolve(address(of: 2)) == nil)
        #expect(tries() == 0, "the same again changes nothing")
    }

    @Test("A new bond costs nothing until the addresses of remembered strangers are looked up")
    func manyStrangers() {
        let toolbox = CountingToolbox()
        func tries() -> Int {
            toolbox.count.withLock { count in
                defer { count = 0 }
                return count
            }
        }
        var resolver = AddressResolver(crypto: toolbox)
        resolver.set(identity(1, key: 1), of: peer(1))
        let strangers = (0..<500 as Range<UInt64>).map { DeviceAddress(0x41_00_00_00_00_00 | $0, kind: .random) }
        for stranger in strangers { #expect(resolver.resolve(stranger) == nil) }
        _ = tries()
        resolver.set(identity(2, key: 2), of: peer(2))
        #expect(tries() == 0)
        for _ in 0..<2 { for stranger in strangers { #expect(resolver.recall(stranger) == .stranger) } }
        #expect(tries() == strangers.count, "the new key, once for each")
        // With many new keys an address is unknown again, and waits as a new one does.
        let last = 3 + UInt64(AddressResolver.keysPerRecall)
        for number in 3...last { resolver.set(identity(number, key: UInt128(number)), of: peer(number)) }
        #expect(resolver.recall(strangers[0]) == nil)
        #expect(tries() == 0)
        #expect(resolver.resolve(strangers[0]) == nil)
        #expect(tries() == Int(last))
    }

    @Test("A peer whose key or name changes is found by the new one")
    func changed() {
        var resolver = AddressResolver(crypto: HostWorld.crypto)
        resolver.set(identity(1, key: 1), of: peer(1))
        #expect(resolver.resolve(address(of: 1)) == peer(1))
        #expect(resolver.resolve(address(of: 2)) == nil)
        resolver.set(identity(1, key: 2), of: peer(1))
        #expect(resolver.resolve(address(of: 1)) == nil)
        #expect(resolver.resolve(address(of: 2)) == peer(1))
        resolver.rename(peer(1), to: peer(7))
        #expect(resolver.resolve(address(of: 2)) == peer(7))
        #expect(resolver.search(address(of: 2)) == peer(7))
    }

    @Test("A search for several addresses spans turns, and restarts when bonds change")
    func searched() {
        let toolbox = CountingToolbox()
        var resolver = AddressResolver(crypto: toolbox)
        for number in 1...10 as ClosedRange<UInt64> {
            resolver.set(identity(number, key: UInt128(number)), of: peer(number))
        }
        var search = AddressSearch([address(of: 2), address(of: 10), address(of: 77)])
        var hasEnded = resolver.advance(&search, keys: 4)
        #expect(!hasEnded)
        #expect(toolbox.count.withLock { $0 } == 12)
        #expect(resolver.recall(address(of: 2)) == nil)
        resolver.set(nil, of: peer(2))
        resolver.set(identity(11, key: 77), of: peer(11))
        hasEnded = resolver.advance(&search, keys: 9)
        #expect(!hasEnded)
        hasEnded = resolver.advance(&search, keys: 9)
        #expect(hasEnded)
        #expect(search.makers == [.stranger, .peer(peer(10)), .peer(peer(11))])
        #expect(resolver.recall(address(of: 2)) == .stranger)
        #expect(resolver.recall(address(of: 10)) == .peer(peer(10)))
        #expect(resolver.recall(address(of: 77)) == .peer(peer(11)))
    }

    /// Core 5.4, Vol 6, Part B, 1.3.2.2: only a random address whose two top bits are 01 is resolvable.
    static let unresolvable: [DeviceAddress] = [
        DeviceAddress(0x40_00_00_00_00_01, kind: .public), DeviceAddress(0xC0_00_00_00_00_01, kind: .random),
        DeviceAddress(0x00_00_00_00_00_01, kind: .random), DeviceAddress(0x80_00_00_00_00_01, kind: .random),
        DeviceAddress(0x40_00_00_00_00_01, kind: .randomIdentity),
    ]

    @Test("No key is tried on addresses that are not resolvable", arguments: unresolvable)
    func others(_ address: DeviceAddress) {
        let toolbox = CountingToolbox()
        var resolver = AddressResolver(crypto: toolbox)
        resolver.set(identity(1, key: 1), of: peer(1))
        #expect(resolver.resolve(address) == nil)
        #expect(toolbox.count.withLock { $0 } == 0)
    }

    @Test("S13: a key of zero is ignored")
    func zero() {
        var resolver = AddressResolver(crypto: HostWorld.crypto)
        resolver.set(identity(1, key: 0), of: peer(1))
        #expect(resolver.keys.isEmpty && resolver.listed.isEmpty)
        resolver.set(identity(2, key: 2), of: peer(2))
        #expect(resolver.resolve(address(of: 0)) == nil)
    }

    @Test("Of two bonds with the same key, the older one is used, and only that one is listed")
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

    @Test("Memory is bounded, and keeps the most recently used addresses")
    func bounded() {
        let toolbox = CountingToolbox()
        var resolver = AddressResolver(crypto: toolbox)
        resolver.set(identity(1, key: 1), of: peer(1))
        let known = address(of: 1), count = UInt64(AddressResolver.memorySize)
        for number in 0..<2 * count {
            #expect(resolver.resolve(DeviceAddress(0x41_00_00_00_00_00 | number, kind: .random)) == nil)
            if number % 4096 == 0 { #expect(resolver.resolve(known) == peer(1)) }
        }
        #expect(toolbox.count.withLock { $0 } == Int(2 * count) + 1)
        #expect(resolver.resolve(DeviceAddress(0x41_00_00_00_00_00 | (2 * count - 1), kind: .random)) == nil)
        #expect(toolbox.count.withLock { $0 } == Int(2 * count) + 1)
        #expect(resolver.resolve(DeviceAddress(0x41_00_00_00_00_00, kind: .random)) == nil)
        #expect(toolbox.count.withLock { $0 } == Int(2 * count) + 2, "the oldest is forgotten")
    }
}
