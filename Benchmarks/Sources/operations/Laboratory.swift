import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHost
import BluetoothSMP
import BluetoothSimulation
import VirtualRadio

/// A peripheral and a central with a link between them, on a simulated radio and in virtual time.
struct Laboratory {
    static let peripheral = 0, central = 1

    var world = HostWorld()
    private var links: [LinkIdentifier] = []
    /// The characteristic that is notified, read and written.
    private(set) var value: AttributeHandle = 0
    private var configuration: AttributeHandle = 0

    var now: Instant { world.now }

    /// - Parameters:
    ///   - attributes: the minimum number of attributes in the peripheral's database.
    ///   - services: the number of additional services for a discovery, with two characteristics each.
    ///   - descriptors: the number of those two characteristics that have a descriptor, so that they can notify.
    ///   - buffers: the number of buffers for ACL data in each controller.
    ///   - isBonded: whether the two devices are bonded, so that the link is encrypted.
    init(
        attributes: Int = 20, services: Int = 0, descriptors: Int = 0, buffers: UInt8 = 8, isBonded: Bool = false
    ) {
        for _ in 1...2 {
            _ = world.add {
                $0.aclBufferCount = buffers
            } host: {
                if isBonded { $0.security = SecurityConfiguration(crypto: LibraryToolbox()) }
            }
        }
        if isBonded { bond() }
        for _ in 0..<services { addService(notifying: descriptors) }
        let definition = GATTCharacteristicDefinition(
            uuid: "2A37", properties: [.notify, .read, .write, .writeWithoutResponse],
            value: .variableLength(Array(repeating: 7, count: 20), maximum: 244))
        // The value is in the middle of the database, so that a lookup finds it neither first nor last.
        while world.hosts[0].server.database.count < attributes / 2 { addService() }
        let service = GATTServiceDefinition(uuid: "180D", characteristics: [definition])
        guard let handles = try? world.hosts[0].server.database.add(service) else {
            fatalError("no room for the service")
        }
        while world.hosts[0].server.database.count < attributes { addService() }
        value = handles.characteristics[0].value
        configuration = handles.characteristics[0].clientConfiguration ?? 0
        connect()
        guard isBonded == world.hosts[0].information(of: link(0))?.security.isEncrypted else {
            fatalError("the link is \(isBonded ? "not " : "")encrypted")
        }
    }

    /// Gives each host the other's keys.
    private mutating func bond() {
        for (index, peer) in [2, 1].enumerated() {
            let address = DeviceAddress(0xA0_00_00_00_00_00 + UInt64(peer), kind: .public)
            var bond = Bond(
                peer: PeerID(address), address: address,
                strength: KeyStrength(model: .justWorks, usesSecureConnections: true, keySize: 16))
            bond.centralKey = LongTermKey(key: 1)
            bond.peripheralKey = LongTermKey(key: 1)
            world.hosts[index].restore(bond, at: world.now)
        }
    }

    /// - Parameter count: the number of its two characteristics that can notify.
    private mutating func addService(notifying count: Int = 0) {
        let characteristics = (0..<2).map {
            GATTCharacteristicDefinition(
                uuid: "2A19", properties: $0 < count ? [.read, .notify] : .read, value: .constant([1]))
        }
        let service = GATTServiceDefinition(uuid: "180F", characteristics: characteristics)
        guard (try? world.hosts[0].server.database.add(service)) != nil else {
            fatalError("no room for another service")
        }
    }

    private mutating func connect() {
        for index in world.hosts.indices { world.hosts[index].start(at: now) }
        world.run(for: .milliseconds(100))
        guard let pair = world.connect(Self.central, to: Self.peripheral) else { fatalError("there is no link") }
        links = [pair.peripheralLink, pair.centralLink]
        world.run(for: .seconds(1))
        world.hosts[0].stopAdvertising(at: now)
        perform(.configure(descriptor: configuration, .notifications))
    }

    /// The link, as identified by the host at the given index.
    func link(_ index: Int) -> LinkIdentifier { links[index] }

    /// Performs a client operation of the central.
    mutating func perform(_ operation: GATTClientOperation) {
        guard (try? world.hosts[1].start(operation, on: link(1), at: now)) != nil else { fatalError("refused") }
        world.run(for: .seconds(2))
    }

    /// Subscribes again, over another bearer.
    mutating func subscribe(over bearer: AttributeChannel.ID) {
        perform(.configure(descriptor: configuration, []))
        let subscription = GATTClientOperation.configure(descriptor: configuration, .notifications)
        guard (try? world.hosts[1].start(subscription, on: link(1), bearer: bearer, at: now)) != nil else {
            fatalError("refused")
        }
        world.run(for: .seconds(2))
    }
}
