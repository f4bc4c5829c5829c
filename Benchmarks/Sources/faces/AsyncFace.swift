import BluetoothLE

/// A benchmark application that uses the asynchronous API.
enum AsyncFace {
    private static let service: BluetoothUUID = "180D"
    private static let characteristic: BluetoothUUID = "2A37"

    static func run(_ work: Workload, on transport: String) async throws {
        let adapter = try await Adapter.open(TransportName(transport))
        switch work.kind {
        case .notification: try await receiveNotifications(work, over: try await connect(adapter))
        case .write: try await write(work.count, over: try await connect(adapter))
        case .read: try await read(work.count, over: try await connect(adapter))
        case .notify, .notifySingly: try await notify(work.count, from: adapter)
        case .report: try await receiveReports(work, by: adapter)
        case .channelWrite: try await writeBlocks(work.count, over: try await connect(adapter))
        case .channelRead: try await readBlocks(work.count, over: try await connect(adapter))
        }
        await adapter.close()
    }

    private static func connect(_ adapter: Adapter) async throws -> Connection {
        let sighting = try await adapter.firstSighting(for: ScanFilter(services: [service]))
        return try await adapter.connect(to: sighting)
    }

    private static func receiveNotifications(_ work: Workload, over connection: Connection) async throws {
        let target = try await connection.characteristic(characteristic, in: service)
        var values = Values(work)
        let notifications = try await connection.notifications(of: target)
        let flow = Flow()
        try await connection.writeWithoutResponse([1], to: target)
        do {
            for try await value in notifications {
                values.receive(value)
                if values.isRoundComplete { try await connection.writeWithoutResponse([1], to: target) }
                if values.isComplete { break }
            }
        } catch {
            // The missing notifications count as lost: the benchmark also measures how well a slow consumer keeps up.
            warn("\(error)")
        }
        flow.end(operations: values.received, lost: values.lost, values.latencies)
    }

    private static func write(_ count: Int, over connection: Connection) async throws {
        let target = try await connection.characteristic(characteristic, in: service)
        let flow = Flow()
        for _ in 0..<count { try await connection.writeWithoutResponse(Workload.value, to: target) }
        // The peer answers this read after it has received all writes.
        _ = try await connection.read(target)
        flow.end(operations: count)
    }

    private static func read(_ count: Int, over connection: Connection) async throws {
        let target = try await connection.characteristic(characteristic, in: service)
        let flow = Flow()
        for _ in 0..<count {
            guard try await connection.read(target).count == 20 else { fail("read something else") }
        }
        flow.end(operations: count)
    }

    private static func notify(_ count: Int, from adapter: Adapter) async throws {
        let published = try await adapter.publish(
            GATTServiceDefinition(
                uuid: service, characteristics: [.init(uuid: characteristic, properties: .notify)]))
        guard let target = published[characteristic] else { fail("the characteristic is not there") }
        try await adapter.advertise(AdvertisementData())
        var flow: Flow?
        for try await event in target.events {
            if case .subscribed(let subscriber) = event {
                flow = Flow()
                for _ in 0..<count { try await subscriber.notify(Workload.value) }
            }
            // The peer unsubscribes when it has received all values.
            if case .unsubscribed = event, let flow { return flow.end(operations: count) }
        }
    }

    private static func receiveReports(_ work: Workload, by adapter: Adapter) async throws {
        let flow = Flow()
        let received = try await withThrowingTaskGroup { scans in
            for _ in 0..<work.scans {
                let scan = adapter.scan(parameters: ScanParameters(reportsDuplicates: true))
                scans.addTask { try await countReports(of: scan) }
            }
            return try await scans.reduce(work.count) { min($0, $1) }
        }
        flow.end(operations: received, lost: work.count - received)
    }

    private static func countReports(of scan: EventSequence<Sighting>) async throws -> Int {
        var received = 0
        for try await sighting in scan {
            // The peer's last report has an RSSI of 0.
            if sighting.rssi == 0 { break }
            received += 1
        }
        return received
    }
}
