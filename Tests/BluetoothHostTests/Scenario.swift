import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import TestSupport
import VirtualRadio

/// Several hosts that do anything at any time, while the air, the peers and the controllers fail them: all of it made
/// from one seed.
struct Scenario {
    var world: World
    var ledgers: [Ledger] = []
    /// What had not ended when the controller it was started on had been unplugged.
    private(set) var leftovers: [String] = []
    private var generator: SeededGenerator
    private var links: [[LinkIdentifier]] = []
    private var value: AttributeHandle = 0

    init(seed: UInt64, hosts: Int = 4) {
        generator = SeededGenerator(seed: seed)
        world = World(seed: seed)
        for index in 0..<hosts {
            let length: UInt16 = index % 2 == 0 ? 27 : 251
            _ = world.add {
                $0.aclDataLength = length
            } host: {
                $0.maximumLinks = 6
                $0.sendQueueLimit = 4
            }
            value = (try? Self.publish(on: &world.hosts[index])) ?? 0
            world.hosts[index].start(at: world.now)
            ledgers.append(Ledger())
            links.append([])
        }
        advance(by: .seconds(1))
    }

    private static func publish(on host: inout Host) throws -> AttributeHandle {
        let definition = GATTServiceDefinition(
            uuid: World.service,
            characteristics: [
                GATTCharacteristicDefinition(
                    uuid: World.characteristic, properties: [.read, .write, .notify, .indicate], value: .dynamic)
            ])
        return try host.server.database.add(definition).characteristics[0].value
    }

    // MARK: - Going on

    mutating func step() {
        let index = Int.random(in: 0..<world.hosts.count, using: &generator)
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<25: connect(index)
        case 25..<32: callOnAdapter(index)
        case 32..<85:
            if let link = links[index].randomElement(using: &generator) { callOnLink(link, of: index) }
        default: break
        }
        if generator.oneIn(40) { breakSomething(index) }
        advance(by: .milliseconds(Int.random(in: 0..<200, using: &generator)))
    }

    /// Ends everything that goes on until further notice, and waits until nothing does.
    mutating func finish() {
        for index in world.hosts.indices {
            world.hosts[index].stopScanning(at: world.now)
            world.hosts[index].stopAdvertising(at: world.now)
            for attempt in ledgers[index].attempts {
                world.hosts[index].cancelConnecting(attempt, at: world.now)
            }
        }
        advance(by: .seconds(60))
        for index in world.hosts.indices {
            for link in world.hosts[index].connectedLinks {
                try? world.hosts[index].disconnect(link, at: world.now)
            }
        }
        advance(by: .seconds(60))
    }

    mutating func advance(by duration: Duration) {
        let limit = world.now.advanced(by: duration)
        repeat { takeEvents() } while world.step(until: limit)
        takeEvents()
        world.now = limit
    }

    private mutating func takeEvents() {
        for index in world.hosts.indices {
            let seen = world.seen[index]
            world.seen[index].removeAll()
            for event in seen.map(\.event) { take(event, of: index) }
        }
    }

    private mutating func take(_ event: HostEvent, of index: Int) {
        ledgers[index].take(event)
        switch event {
        case .link(let link, .connected): links[index].append(link)
        case .link(let link, .disconnected): links[index].removeAll { $0 == link }
        case .server(_, .readRequested(let request, _, _)):
            guard !generator.oneIn(5) else { return }
            try? world.hosts[index].answer(request, value: [1, 2, 3].span, at: world.now)
        case .server(_, .writeRequested(let request, _, _)), .server(_, .executeRequested(let request, _)):
            if generator.oneIn(3) {
                try? world.hosts[index].refuse(request, with: .unlikelyError)
            } else {
                try? world.hosts[index].accept(request)
            }
        case .controller(.failed): world.hosts[index].start(at: world.now)
        default: return
        }
    }

    // MARK: - Calls

    private mutating func connect(_ index: Int) {
        if generator.oneIn(4), let attempt = ledgers[index].attempts.randomElement(using: &generator) {
            return world.hosts[index].cancelConnecting(attempt, at: world.now)
        }
        let peer = Int.random(in: 0..<world.hosts.count, using: &generator)
        guard let address = world.hosts[peer].controller?.address else { return }
        let timeout: Duration? = generator.oneIn(3) ? nil : .seconds(Int.random(in: 1...10, using: &generator))
        guard let attempt = try? world.hosts[index].connect(to: PeerID(address), timeout: timeout, at: world.now) else {
            return
        }
        ledgers[index].start(.attempt(attempt))
    }

    private mutating func callOnAdapter(_ index: Int) {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: world.hosts[index].stopScanning(at: world.now)
        case 1: world.hosts[index].stopAdvertising(at: world.now)
        case 2, 3: try? world.hosts[index].startScanning(ScanParameters(isActive: false), at: world.now)
        default:
            let data: [UInt8] = [2, 1, UInt8.random(in: 4...6, using: &generator)]
            try? world.hosts[index].startAdvertising(AdvertisingParameters(data: data), at: world.now)
        }
    }

    private mutating func callOnLink(_ link: LinkIdentifier, of index: Int) {
        let now = world.now
        switch Int.random(in: 0..<20, using: &generator) {
        case 0: try? world.hosts[index].disconnect(link, at: now)
        case 1:
            if let request = try? world.hosts[index].readRSSI(of: link, at: now) {
                ledgers[index].start(.request(request))
            }
        case 2:
            let interval = UInt16.random(in: 6...80, using: &generator)
            let parameters = ConnectionParameters(
                intervalMin: interval, intervalMax: interval, latency: 0, timeout: 400)
            if let request = try? world.hosts[index].updateParameters(parameters, of: link, at: now) {
                ledgers[index].start(.request(request))
            }
        case 3:
            guard let (link, operation) = ledgers[index].operations.randomElement(using: &generator) else { return }
            world.hosts[index].cancel(operation, on: link)
        case 4...6:
            let bytes = generator.bytes(20)
            _ = try? world.hosts[index].notify(value, value: bytes.span, on: link)
        case 7: _ = try? world.hosts[index].indicate(value, value: [1].span, on: link, at: now)
        default:
            let operations: [GATTClientOperation] = [
                .discoverAll(includes: false), .read(value), .read(3), .readLong(3), .write(value, [1, 2]),
                .writeLong(value, [UInt8](repeating: 1, count: 300)), .write(3, [UInt8](repeating: 1, count: 600)),
                .configure(descriptor: AttributeHandle(value.rawValue + 1), [.notifications, .indications]),
            ]
            let operation = operations[Int.random(in: 0..<operations.count, using: &generator)]
            if let identifier = try? world.hosts[index].start(operation, on: link, at: now) {
                ledgers[index].start(.operation(link, identifier))
            }
        }
    }

    // MARK: - Faults

    private mutating func breakSomething(_ index: Int) {
        let controller = world.controllers[index]
        switch Int.random(in: 0..<11, using: &generator) {
        case 0, 1: world.air.reportHardwareError(1, on: controller)
        case 2: world.air.dropLinks(of: controller, reason: .remoteDevicePowerOff, at: world.now)
        case 3:
            // A controller that hangs, until it is reset often enough to be given up.
            world.air[controller].faults.ignoresCommands = true
            advance(by: .seconds(Int.random(in: 1...10, using: &generator)))
            world.air[controller].faults.ignoresCommands = false
        case 4, 5:
            let other = world.controllers[(index + 1) % world.controllers.count]
            world.air.setPathLoss(between: controller, and: other, to: 200, at: world.now)
            advance(by: .seconds(Int.random(in: 1...8, using: &generator)))
            world.air.setPathLoss(between: controller, and: other, to: 50, at: world.now)
        case 6:
            unplug(index)
            advance(by: .milliseconds(Int.random(in: 0..<8000, using: &generator)))
            plugIn(index)
        default: world.air[controller].faults.failingConnections = 1
        }
    }

    /// Pulls a controller out: everything that was started on its host has ended then.
    mutating func unplug(_ index: Int) {
        world.air.removeController(world.controllers[index], at: world.now)
        world.hosts[index].controllerLost(at: world.now)
        advance(by: .zero)
        if !ledgers[index].open.isEmpty { leftovers.append("\(ledgers[index].open)") }
    }

    mutating func plugIn(_ index: Int) {
        world.air.returnController(world.controllers[index], at: world.now)
        world.hosts[index].start(at: world.now)
    }
}
