import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothSimulation

/// The discovery of 100 services with two characteristics each.
///
/// The packets from the central's controller are recorded once. The benchmark replays the recording, so that it
/// measures the central's host alone.
struct Discovery {
    private var laboratory: Laboratory
    /// For each request of the client, the packets from its controller that follow it.
    private var record: [[[UInt8]]] = []
    /// The number of requests in a discovery.
    var roundTrips: Int { record.count }

    /// - Parameter descriptors: the number of characteristics in each service that have a descriptor.
    init(descriptors: Int = 2) {
        laboratory = Laboratory(services: 100, descriptors: descriptors)
        var rehearsal = laboratory
        guard
            (try? rehearsal.world.hosts[Laboratory.central].start(.discoverAll(includes: false), on: link, at: now))
                != nil
        else { fatalError("refused") }
        while !rehearsal.world.hosts[Laboratory.central].outbox.isEmpty {
            record.append(rehearsal.world.exchange())
        }
    }

    private var link: LinkIdentifier { laboratory.link(Laboratory.central) }
    private var now: Instant { laboratory.now }

    func run(_ count: Int) -> Int {
        var host = laboratory.world.hosts[Laboratory.central], sum = 0
        for _ in 0..<count {
            _ = try? host.start(.discoverAll(includes: false), on: link, at: now)
            for packets in record {
                guard drain(&host.outbox) > 0 else { fatalError("no request") }
                for packet in packets { host.receive(packet.span, at: now) }
            }
            while let event = host.events.next() {
                guard case .client(_, .operationEnded(.completed(_, .database(let database)))) = event else { continue }
                guard database.services.count >= 100, database.characteristics.count >= 200 else { continue }
                sum += database.characteristics.count
            }
        }
        precondition(sum >= 200 * count, "not discovered")
        return sum
    }
}

extension HostWorld {
    /// Delivers the central's packets to its controller, and then runs everything that follows until the central has
    /// another packet for its controller or nothing more happens. Returns the packets that the central received.
    fileprivate mutating func exchange() -> [[UInt8]] {
        let central = Laboratory.central, peripheral = Laboratory.peripheral
        var packets: [[UInt8]] = []
        carry(from: central)
        while hosts[central].outbox.isEmpty {
            carry(from: peripheral)
            while let packet = air[controllers[peripheral]].outbox.popFirst() {
                hosts[peripheral].receive(packet.span, at: now)
            }
            while let packet = air[controllers[central]].outbox.popFirst() {
                packets.append(packet)
                hosts[central].receive(packet.span, at: now)
            }
            for index in hosts.indices { while hosts[index].events.next() != nil {} }
            guard hosts.allSatisfy(\.outbox.isEmpty) else { continue }
            guard let deadline = air.nextDeadline else { break }
            now = max(now, deadline)
            air.fire(at: now)
        }
        return packets
    }

    private mutating func carry(from index: Int) {
        while let packet = hosts[index].outbox.popFirst() {
            air.receive(packet.span, from: controllers[index], at: now)
        }
    }
}
