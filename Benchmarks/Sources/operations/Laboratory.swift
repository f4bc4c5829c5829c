import BluetoothATT
import BluetoothBase
import BluetoothCrypto
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP
import BluetoothSMP
import VirtualRadio

/// A peripheral and a central with a link between them, on a virtual air, in virtual time.
struct Laboratory {
    static let peripheral = 0, central = 1

    var air = Air(seed: 1)
    var hosts: [Host] = []
    var controllers: [ControllerID] = []
    var links: [LinkIdentifier?] = [nil, nil]
    var now = Instant.zero
    /// The characteristic that is notified, read and written.
    private(set) var value: AttributeHandle = 0
    private var configuration: AttributeHandle = 0
    /// The channel that the central has opened, as the peripheral has it.
    private(set) var channel: CreditBasedChannel.ID?
    /// How often something happened by itself.
    var deadlines = 0
    /// Values that were notified to the central.
    var received = 0

    /// - Parameters:
    ///   - attributes: at least how many attributes the peripheral's database has.
    ///   - services: how many services for a discovery, of two characteristics each, it has beside them.
    ///   - descriptors: how many of the two have a descriptor, so that they can notify.
    ///   - buffers: how many buffers for ACL data each controller has.
    ///   - isBonded: whether the two are bonded, so that the link is encrypted.
    init(
        attributes: Int = 20, services: Int = 0, descriptors: Int = 0, buffers: UInt8 = 8, isBonded: Bool = false
    ) {
        for number in 1...2 as ClosedRange<UInt64> {
            let address = DeviceAddress(0xA0_00_00_00_00_00 + number, kind: .public)
            var configuration = ControllerConfiguration(publicAddress: address)
            configuration.aclBufferCount = buffers
            controllers.append(air.addController(configuration))
            var host = HostConfiguration(seed: number)
            if isBonded { host.security = SecurityConfiguration(crypto: SwiftCryptoToolbox()) }
            hosts.append(Host(configuration: host))
        }
        if isBonded { bond() }
        for _ in 0..<services { addService(notifying: descriptors) }
        let definition = GATTCharacteristicDefinition(
            uuid: "2A37", properties: [.notify, .read, .write, .writeWithoutResponse],
            value: .variableLength(Array(repeating: 7, count: 20), maximum: 244))
        var handles: GATTServiceHandles?
        // What is read stands in the middle: neither the first nor the last of a look-up.
        while hosts[0].server.database.count < attributes / 2 { addService() }
        handles = try? hosts[0].server.database.add(GATTServiceDefinition(uuid: "180D", characteristics: [definition]))
        while hosts[0].server.database.count < attributes { addService() }
        guard let handles else { fatalError("no room for the service") }
        value = handles.characteristics[0].value
        configuration = handles.characteristics[0].clientConfiguration ?? 0
        connect()
        guard isBonded == hosts[0].information(of: link(0))?.security.isEncrypted else {
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
            hosts[index].restore(bond, at: now)
        }
    }

    /// - Parameter count: how many of its two characteristics notify.
    private mutating func addService(notifying count: Int = 0) {
        let characteristics = (0..<2).map {
            GATTCharacteristicDefinition(
                uuid: "2A19", properties: $0 < count ? [.read, .notify] : .read, value: .constant([1]))
        }
        let service = GATTServiceDefinition(uuid: "180F", characteristics: characteristics)
        guard (try? hosts[0].server.database.add(service)) != nil else { fatalError("no room for another service") }
    }

    private mutating func connect() {
        for index in hosts.indices { hosts[index].start(at: now) }
        run(for: .milliseconds(100))
        guard let peer = hosts[0].controller?.address else { fatalError("the controller did not come up") }
        do {
            try hosts[0].startAdvertising(AdvertisingParameters(data: [2, 1, 6]), at: now)
            _ = try hosts[1].connect(to: PeerID(peer), timeout: nil, at: now)
            run(for: .seconds(1))
            hosts[0].stopAdvertising(at: now)
            perform(.configure(descriptor: configuration, .notifications))
        } catch {
            fatalError("\(error)")
        }
    }

    /// The link, as one of the two hosts calls it.
    func link(_ index: Int) -> LinkIdentifier {
        guard let link = links[index] else { fatalError("there is no link") }
        return link
    }

    /// Carries out a client operation of the central.
    mutating func perform(_ operation: GATTClientOperation) {
        guard (try? hosts[1].start(operation, on: link(1), at: now)) != nil else { fatalError("refused") }
        run(for: .seconds(2))
    }

    /// Subscribes anew, over another bearer.
    mutating func subscribe(over bearer: AttributeChannel.ID) {
        perform(.configure(descriptor: configuration, []))
        let subscription = GATTClientOperation.configure(descriptor: configuration, .notifications)
        guard (try? hosts[1].start(subscription, on: link(1), bearer: bearer, at: now)) != nil else {
            fatalError("refused")
        }
        run(for: .seconds(2))
    }

    // MARK: - Time

    mutating func run(for duration: Duration) {
        let end = now.advanced(by: duration)
        settle()
        while let deadline = nextDeadline, deadline <= end { step(to: deadline) }
        now = end
    }

    private var nextDeadline: Instant? {
        mutating get { hosts.indices.reduce(air.nextDeadline) { earliest($0, hosts[$1].nextDeadline) } }
    }

    mutating func step(to deadline: Instant) {
        deadlines += 1
        now = max(now, deadline)
        air.fire(at: now)
        hosts[0].fire(at: now)
        hosts[1].fire(at: now)
        settle()
    }

    /// Carries packets until none is left.
    mutating func settle() {
        var isBusy = true
        while isBusy {
            isBusy = false
            for index in 0..<2 {
                while !hosts[index].outbox.isEmpty {
                    isBusy = true
                    Self.send(&hosts[index].outbox, to: &air, controllers[index], now)
                }
                while !air[controllers[index]].outbox.isEmpty {
                    isBusy = true
                    Self.receive(&air[controllers[index]].outbox, &hosts[index], now)
                }
                take(index)
            }
        }
    }

    /// Carries what the central has for its controller, and then everything that follows from it by itself, until the
    /// central has something for its controller again or nothing happens any more. Returns the packets that the central got.
    mutating func exchange() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while !hosts[1].outbox.isEmpty { Self.send(&hosts[1].outbox, to: &air, controllers[1], now) }
        while hosts[1].outbox.isEmpty {
            while !hosts[0].outbox.isEmpty { Self.send(&hosts[0].outbox, to: &air, controllers[0], now) }
            while !air[controllers[0]].outbox.isEmpty {
                Self.receive(&air[controllers[0]].outbox, &hosts[0], now)
            }
            while let packet = air[controllers[1]].outbox.popFirst() {
                packets.append(packet)
                hosts[1].receive(packet.span, at: now)
            }
            take(0)
            take(1)
            guard hosts[0].outbox.isEmpty, hosts[1].outbox.isEmpty else { continue }
            guard let deadline = air.nextDeadline else { break }
            now = max(now, deadline)
            air.fire(at: now)
        }
        return packets
    }

    private static func send(_ queue: inout PacketQueue, to air: inout Air, _ controller: ControllerID, _ now: Instant)
    {
        air.receive(queue.first, from: controller, at: now)
        queue.removeFirst()
    }

    private static func receive(_ queue: inout PacketQueue, _ host: inout Host, _ now: Instant) {
        host.receive(queue.first, at: now)
        queue.removeFirst()
    }

    private mutating func take(_ index: Int) {
        while let event = hosts[index].events.next() {
            switch event {
            case .link(let link, .connected): links[index] = link
            case .client(_, .notification): received += 1
            case .channel(_, .opened(let id, _, by: .peer)): channel = id
            default: continue
            }
        }
    }
}
