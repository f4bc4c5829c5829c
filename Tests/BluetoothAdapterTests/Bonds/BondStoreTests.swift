import BluetoothBase
import BluetoothHost
import BluetoothSMP
import Testing

@testable import BluetoothAdapter

/// What holds of any store.
@Suite("Bond stores")
struct BondStoreTests {
    enum Kind: CaseIterable { case memory, file }

    private let directory = TemporaryDirectory()

    private func store(_ kind: Kind) -> any BondStore {
        switch kind {
        case .memory: MemoryBondStore()
        case .file: FileBondStore(directory: directory.path)
        }
    }

    @Test("a store returns the saved bonds in the order of their addresses", arguments: Kind.allCases)
    func saved(kind: Kind) throws {
        let store = store(kind)
        #expect(try store.bonds(of: BondSamples.local) == [])
        try store.save(BondSamples.bare(2), of: BondSamples.local)
        try store.save(BondSamples.full(1), of: BondSamples.local)
        #expect(try store.bonds(of: BondSamples.local) == [BondSamples.full(1), BondSamples.bare(2)])
        #expect(try store.bonds(of: BondSamples.other) == [])
        #expect(try store.identities() == [BondSamples.local])
    }

    @Test("a store replaces the bond with the same peer, and removes it", arguments: Kind.allCases)
    func replaced(kind: Kind) throws {
        let store = store(kind)
        var bond = BondSamples.full()
        try store.save(bond, of: BondSamples.local)
        bond.centralKey = nil
        bond.address = BondSamples.address(7)
        try store.save(bond, of: BondSamples.local)
        #expect(try store.bonds(of: BondSamples.local) == [bond])
        #expect(try store.remove(BondSamples.address(1), of: BondSamples.local) == false)
        #expect(try store.remove(BondSamples.address(7), of: BondSamples.local))
        #expect(try store.remove(bond.peer, of: BondSamples.local) == false)
        #expect(try store.remove(bond.peer, of: BondSamples.other) == false)
        #expect(try store.bonds(of: BondSamples.local) == [])
        #expect(try store.identities() == [BondSamples.local], "removing nothing adds no identity")
    }

    @Test("a store never decreases the counter of a key", arguments: Kind.allCases)
    func counters(kind: Kind) throws {
        let store = store(kind)
        var bond = BondSamples.bare()
        (bond.localSignature, bond.peerSignature) = (
            SignatureKey(key: 1, counter: 200), SignatureKey(key: 2, counter: 9)
        )
        try store.save(bond, of: BondSamples.local)
        var late = bond
        (late.localSignature, late.peerSignature) = (
            SignatureKey(key: 1, counter: 100), SignatureKey(key: 3, counter: 0)
        )
        try store.save(late, of: BondSamples.local)
        let kept = try #require(try store.bonds(of: BondSamples.local).first)
        #expect(kept.localSignature?.counter == 200)
        // Another key counts from its own beginning.
        #expect(kept.peerSignature?.counter == 0)
    }

    @Test("a store keeps the identity of each controller", arguments: Kind.allCases)
    func identities(kind: Kind) throws {
        let store = store(kind)
        let nameless = DeviceAddress(0, kind: .public)
        #expect(try store.identity(for: nameless) == nil)
        try store.keep(BondSamples.local, for: BondSamples.local.address)
        try store.keep(BondSamples.local, for: nameless)
        #expect(try store.identity(for: nameless) == BondSamples.local)
        try store.keep(BondSamples.other, for: nameless)
        #expect(try store.identity(for: nameless) == BondSamples.other)
        #expect(try store.identity(for: BondSamples.local.address) == BondSamples.local)
        #expect(try store.identity(for: BondSamples.other.address) == BondSamples.other)
    }

    @Test("a store ties bonds to the identity they were made with", arguments: Kind.allCases)
    func renewedIdentity(kind: Kind) throws {
        let store = store(kind)
        try store.keep(BondSamples.local, for: BondSamples.local.address)
        // As long as no peer knows it, it can be another.
        try store.keep(BondSamples.renewed, for: BondSamples.local.address)
        #expect(try store.identity(for: BondSamples.local.address) == BondSamples.renewed)
        try store.save(BondSamples.bare(), of: BondSamples.renewed)
        let error = BondStoreError.identityInUse(BondSamples.local.address)
        #expect(throws: error) { try store.keep(BondSamples.local, for: BondSamples.local.address) }
        #expect(throws: error) { try store.bonds(of: BondSamples.local) }
        #expect(throws: error) { try store.save(BondSamples.bare(), of: BondSamples.local) }
        #expect(throws: error) { try store.remove(BondSamples.bare().peer, of: BondSamples.local) }
        #expect(try store.bonds(of: BondSamples.renewed) == [BondSamples.bare()])
    }

    @Test("a store limits subscriptions and identities, and rejects invalid bonds", arguments: Kind.allCases)
    func bounds(kind: Kind) throws {
        let store = store(kind)
        var bond = BondSamples.full()
        bond.subscriptions = Array(repeating: bond.subscriptions[0], count: BondLimits.subscriptions + 1)
        #expect(throws: BondStoreError.full(.subscriptions, maximum: 256)) {
            try store.save(bond, of: BondSamples.local)
        }
        bond.subscriptions.removeLast()
        try store.save(bond, of: BondSamples.local)
        bond.strength.keySize = 17
        #expect(throws: BondStoreError.invalid(.keySize)) {
            try store.save(bond, of: BondSamples.local)
        }
        let passing = DeviceIdentity(address: DeviceAddress(0x4000_0000_0000, kind: .random), resolvingKey: 1)
        #expect(throws: BondStoreError.invalid(.identityAddress)) {
            try store.save(BondSamples.bare(), of: passing)
        }
        for number in 1..<UInt64(BondLimits.identities) {
            try store.keep(
                DeviceIdentity(address: BondSamples.address(number), resolvingKey: 0), for: .init(number, kind: .public)
            )
        }
        #expect(throws: BondStoreError.full(.identities, maximum: 64)) {
            try store.keep(BondSamples.other, for: BondSamples.other.address)
        }
    }

    @Test("a store keeps up to 1024 bonds")
    func full() throws {
        let bonds = (0..<UInt64(BondLimits.bonds)).map { BondSamples.bare($0) }
        var shelf = try #require(BondShelf(BondSamples.local, controllers: [], bonds: bonds))
        #expect(throws: BondStoreError.full(.bonds, maximum: 1024)) {
            try shelf.save(BondSamples.bare(5000), of: BondSamples.local)
        }
        try shelf.save(BondSamples.bare(5), of: BondSamples.local)
        #expect(BondShelf(BondSamples.local, controllers: [], bonds: bonds + [BondSamples.bare(5000)]) == nil)
        // Also in octets, with all the subscriptions there can be.
        var bond = BondSamples.full()
        bond.subscriptions = Array(
            repeating: .init(characteristic: 65534, descriptor: 65535, configuration: [.indications]), count: 256)
        let size = BondFile.bytes(of: BondFile.Entry(bond)).count
        #expect(size * BondLimits.bonds < FileBondStore.maximumLength)
    }
}
