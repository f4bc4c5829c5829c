import BluetoothBase
import BluetoothCrypto
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation

/// A host with bonds, surrounded by devices that change their private addresses.
struct PrivateAddresses {
    /// The number of blocks that one key encrypts together: the number of new addresses that arrive between two
    /// searches.
    static let batch = 50

    private var host: Host
    private var now: Instant
    private var crowd: [UInt64] = []
    private var generator = SeededGenerator(seed: 1)
    private var count = 0

    /// - Parameters:
    ///   - bonds: the number of bonds of the host. None of them is with a device of the crowd.
    ///   - advertisers: the number of devices in the crowd.
    private init(bonds: Int, advertisers: Int) {
        var world = HostWorld()
        _ = world.add {
            _ in
        } host: {
            $0.security = SecurityConfiguration(crypto: LibraryToolbox(), resolvingKey: 1)
        }
        world.hosts[0].start(at: world.now)
        world.run(for: .milliseconds(100))
        for number in 1...bonds {
            let address = DeviceAddress(0xC000_0000_0000 | UInt64(number), kind: .random)
            let bond = Bond(
                peer: PeerID(address), address: address,
                identity: DeviceIdentity(address: address, resolvingKey: UInt128(number) << 64 | 0xB07D),
                strength: KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16))
            world.hosts[0].restore(bond, at: world.now)
        }
        world.run(for: .milliseconds(100))
        guard (try? world.hosts[0].startScanning(ScanParameters(), at: world.now)) != nil else { fatalError("no scan") }
        world.run(for: .milliseconds(100))
        (host, now) = (world.hosts[0], world.now)
        crowd = (0..<advertisers).map { _ in newAddress() }
    }

    private mutating func newAddress() -> UInt64 { 0x4000_0000_0000 | generator.next() >> 18 }

    /// Encrypts blocks with a single key, in batches.
    static func encryptBlocks(_ count: Int) -> Int {
        let cipher = LibraryToolbox().blockCipher(key: 1)
        var blocks = (0..<UInt128(batch)).map { $0 }, sum = 0
        for _ in 0..<count / batch {
            cipher.encrypt(&blocks)
            sum += blocks.count
        }
        return sum
    }

    /// Receives 250 reports per second, each from a new address.
    static func receiveNew(_ count: Int, bonds: Int) -> Int {
        var scene = PrivateAddresses(bonds: bonds, advertisers: 1)
        var packet = Packets.advertisingReport
        for _ in 0..<count {
            scene.receive(scene.newAddress(), &packet)
            scene.pass(milliseconds: 4)
        }
        return scene.finish(count)
    }

    /// Receives 1,000 reports per second from 10,000 devices. One report in four comes from a new address.
    static func receiveCrowd(_ seconds: Int, bonds: Int) -> Int {
        var scene = PrivateAddresses(bonds: bonds, advertisers: 10_000)
        var packet = Packets.advertisingReport
        // First, every device is received once, as fast as possible.
        for index in scene.crowd.indices { scene.receive(scene.crowd[index], &packet) }
        scene.pass(milliseconds: 1_000)
        for number in 0..<seconds * 1_000 {
            let device = number % scene.crowd.count
            if number % 4 == 0 { scene.crowd[device] = scene.newAddress() }
            scene.receive(scene.crowd[device], &packet)
            scene.pass(milliseconds: 1)
        }
        _ = scene.finish(scene.crowd.count + seconds * 1_000)
        return seconds
    }

    /// - Parameter packet: the buffer for the report, which is reused so that making one costs little.
    private mutating func receive(_ address: UInt64, _ packet: inout [UInt8]) {
        packet[6] = 1
        for octet in 0..<6 { packet[7 + octet] = UInt8(truncatingIfNeeded: address >> UInt64(8 * octet)) }
        host.receive(packet.span, at: now)
        take()
    }

    /// Advances the time, and fires the host's deadlines on the way.
    private mutating func pass(milliseconds: UInt64) {
        let end = Instant(nanoseconds: now.nanoseconds + milliseconds * 1_000_000)
        while let deadline = host.nextDeadline, deadline <= end {
            now = max(now, deadline)
            host.fire(at: now)
            take()
        }
        now = end
    }

    private mutating func take() {
        drain(&host.events) { (_: Span<UInt8>) in count += 1 }
        host.outbox.removeAll()
    }

    /// Checks that each report was passed on exactly once.
    private mutating func finish(_ expected: Int) -> Int {
        pass(milliseconds: 1_000)
        precondition(count == expected, "\(count) reports of \(expected)")
        return count
    }
}
