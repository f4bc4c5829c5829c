import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// The discovery of 100 services with two characteristics each. What the controller of a central
/// sends meanwhile is recorded once, and the central's host alone is measured against the record.
struct Discovery {
    private var laboratory: Laboratory
    /// For each request of the client, the packets that follow it.
    private var record: [[[UInt8]]] = []
    /// How many requests it takes.
    var roundTrips: Int { record.count }

    /// - Parameter descriptors: how many of the two characteristics have a descriptor.
    init(descriptors: Int = 2) {
        laboratory = Laboratory(services: 100, descriptors: descriptors)
        var rehearsal = laboratory
        guard (try? rehearsal.hosts[Laboratory.central].start(.discoverAll(includes: false), on: link, at: now)) != nil
        else { fatalError("refused") }
        while !rehearsal.hosts[Laboratory.central].outbox.isEmpty {
            record.append(rehearsal.exchange())
        }
    }

    private var link: LinkIdentifier { laboratory.link(Laboratory.central) }
    private var now: Instant { laboratory.now }

    func run(_ count: Int) -> Int {
        var host = laboratory.hosts[Laboratory.central], sum = 0
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
