import BluetoothLE
import BluetoothCommandLine
import Synchronization

/// Measures a link to a peer that runs `ble bench --serve`.
struct BenchClient: Sendable {
    let connection: Connection
    /// The duration of the measurement in each direction.
    let time: Duration
    /// The number of round trips to measure.
    let roundTrips: Int
    private let progress = ProgressBar()

    init(_ connection: Connection, time: Duration, roundTrips: Int) {
        self.connection = connection
        self.time = time
        self.roundTrips = roundTrips
    }

    func run() async throws -> BenchResult {
        defer { progress.end() }
        let database = try await connection.discoverAll()
        let characteristics = database.services.first { $0.uuid == BenchService.uuid }.map(database.characteristics)
        func characteristic(_ uuid: BluetoothUUID) throws -> DiscoveredCharacteristic {
            guard let found = characteristics?.first(where: { $0.uuid == uuid }) else {
                throw CommandFailure(.notFound, "\(connection.address) does not run ble bench --serve")
            }
            return found
        }
        let echo = try characteristic(BenchService.echo), sink = try characteristic(BenchService.sink)
        let count = try characteristic(BenchService.count), source = try characteristic(BenchService.source)
        let trips = try await measureRoundTrips(echo)
        let writes = try await measureWrites(to: sink, count)
        let notifications = try await measureNotifications(of: source)
        // Read last: the ATT_MTU and the PHYs may have changed since the link was established.
        return BenchResult(
            address: connection.address, mtu: connection.mtu, phys: connection.phy,
            interval: connection.parameters.interval,
            roundTrips: trips.sorted(), writes: writes, notifications: notifications)
    }

    private func measureRoundTrips(_ echo: DiscoveredCharacteristic) async throws -> [Duration] {
        var times: [Duration] = []
        for number in 0..<roundTrips {
            progress.show("round trips", Double(number) / Double(roundTrips))
            let start = ContinuousClock.now
            _ = try await connection.read(echo)
            times.append(.now - start)
        }
        return times
    }

    private func measureWrites(
        to sink: DiscoveredCharacteristic, _ count: DiscoveredCharacteristic
    ) async throws -> BenchResult.Throughput {
        // Resets the count.
        _ = try await connection.read(count)
        let value = [UInt8](repeating: 0xA5, count: min(connection.mtu - 3, BenchService.longestValue))
        let start = ContinuousClock.now
        var sent = 0
        while case let elapsed = ContinuousClock.now - start, elapsed < time {
            try await connection.writeWithoutResponse(value, to: sink)
            sent += value.count
            progress.show("writes", elapsed / time, speed(sent, elapsed))
        }
        // The peer answers after it has received everything that was sent before the request.
        let answer = try await connection.read(count)
        let elapsed = ContinuousClock.now - start
        guard answer.count == 8 else {
            throw BluetoothError.invalidResponse(.invalidValueLength(answer.count))
        }
        let received = Int(clamping: answer.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        return .init(octets: min(received, sent), time: elapsed, lostOctets: max(0, sent - received))
    }

    private func measureNotifications(of source: DiscoveredCharacteristic) async throws -> BenchResult.Throughput {
        let meter = NotificationMeter()
        let values = try await connection.notifications(of: source)
        let time = time, progress = progress
        do throws(BluetoothError) {
            try await withTimeout(time) { () throws(BluetoothError) in
                var iterator = values.makeAsyncIterator()
                while true {
                    do throws(BluetoothError) {
                        guard let value = try await iterator.next() else { return }
                        let (octets, elapsed) = meter.receive(value, at: .now)
                        progress.show("notifications", elapsed / time, speed(octets, elapsed))
                    } catch {
                        // The result includes the number of lost octets.
                        guard error == .dataLost else { throw error }
                    }
                }
            }
        } catch {
            guard error == .timedOut else { throw error }
        }
        try await connection.unsubscribe(from: source)
        return meter.result
    }

    private func speed(_ octets: Int, _ time: Duration) -> String {
        BenchResult.kilobits(BenchResult.Throughput(octets: octets, time: time, lostOctets: 0).bitsPerSecond)
    }
}

/// Counts notifications, and those that were lost.
final class NotificationMeter: Sendable {
    private struct State {
        var octets = 0
        var lostOctets = 0
        var first: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
        var next: UInt32 = 0
    }

    private let state = Mutex(State())

    /// Returns the number of octets received so far, and the elapsed time.
    @discardableResult
    func receive(_ value: [UInt8], at now: ContinuousClock.Instant) -> (octets: Int, time: Duration) {
        state.withLock { state in
            guard let number = BenchService.number(of: value) else { return (state.octets, .zero) }
            // The first notification only starts the time.
            if let first = state.first {
                state.octets += value.count
                state.lostOctets += Int(number &- state.next) * value.count
                state.next = number &+ 1
                state.last = now
                return (state.octets, now - first)
            }
            state.first = now
            state.next = number &+ 1
            return (0, .zero)
        }
    }

    var result: BenchResult.Throughput {
        state.withLock { state in
            let time = if let first = state.first, let last = state.last { last - first } else { Duration.zero }
            return .init(octets: state.octets, time: time, lostOctets: state.lostOctets)
        }
    }
}
