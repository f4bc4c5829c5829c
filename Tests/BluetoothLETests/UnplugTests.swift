import AdapterTestSupport
import BluetoothBase
import Foundation
import Synchronization
import TestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

/// One side or the other is unplugged again and again, at any instant of all that two devices do with each other.
///
/// A few times by default, since each takes a tenth of a second; `Scripts/soak` sets `UNPLUG_COUNT`. The host by itself
/// is unplugged 10,000 times in its own tests.
@Suite("Unplugging at any instant", .timeLimit(.minutes(60)))
struct UnplugTests {
    static let count = ProcessInfo.processInfo.environment["UNPLUG_COUNT"].flatMap { Int($0) } ?? 60

    @Test("Every call ends exactly once, the adapter recovers each time, and nothing piles up")
    func anyInstant() async throws {
        let story = try await UnplugStory(seed: 1)
        var resident: [Int] = []
        for cycle in 0..<Self.count {
            try await story.unplugOnce(cycle)
            if cycle % max(1, Self.count / 10) == 0 { resident.append(Self.residentPages) }
        }
        #expect(try await story.completes())
        await story.end()
        let tally = story.tally
        #expect(tally.ended == tally.started, "every call has ended, once")
        #expect(tally.unexpected == [])
        // In few cycles chance may leave one out.
        for phase in UnplugStory.Phase.allCases where Self.count >= 1000 {
            #expect(tally.unplugged[phase, default: 0] > 0, "never unplugged while \(phase)")
        }
        if Self.count >= 1000, let last = resident.last {
            // The first tenths fill caches and pools; 1024 pages are 4 MiB.
            #expect(last - resident[resident.count / 3] < 1024, "resident pages: \(resident)")
        }
    }

    /// How many pages of memory this process has.
    static var residentPages: Int {
        let statistics = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return statistics.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
}

/// A central that finds a peripheral, connects, discovers, writes, reads, receives a message and leaves, over and over.
final class UnplugStory: Sendable {
    enum Phase: Int, CaseIterable {
        case scanning, connecting, discovering, writing, receiving, leaving, advertising
    }

    /// What was begun, and how it ended.
    struct Tally {
        var started = 0, ended = 0
        var unexpected: [String] = []
        var unplugged: [Phase: Int] = [:]
        var phase = Phase.scanning
        /// How often the central has come to the end of its round.
        var rounds = 0
    }

    let radio = VirtualRadio(time: .manual)
    let ports: [VirtualRadio.Port]
    let central, peripheral: Adapter
    private let state = Mutex(Tally())
    private let generator: Mutex<SeededGenerator>
    private let message = [UInt8](repeating: 5, count: 600)
    private let value = [UInt8](repeating: 6, count: 300)
    /// What the central does, and what answers it on the other side.
    private let living = Mutex<Task<Void, Never>?>(nil)
    private let serving = Mutex<Task<Void, Never>?>(nil)

    var tally: Tally { state.withLock { $0 } }

    init(seed: UInt64) async throws {
        generator = Mutex(SeededGenerator(seed: seed))
        let radio = radio
        let ports = (0..<2).map { _ in radio.addController { $0.responseDelay = .milliseconds(1) } }
        self.ports = ports
        (central, peripheral) = try await radio.passing {
            var options = AdapterOptions(seed: 1)
            // So that the one that is left soon knows.
            options.host.connectionParameters = ConnectionParameters(
                minimumInterval: .milliseconds(15), maximumInterval: .milliseconds(30),
                supervisionTimeout: .milliseconds(200))
            let central = try await Adapter.open(ports[0], options: options)
            let peripheral = try await Adapter.open(ports[1], options: .init(seed: 2))
            return (central, peripheral)
        }
        let service = try await peripheral.publish(Scene.definition)
        try await radio.passing { [self] in try await advertise() }
        let events = try #require(service[Scene.notified]).events
        let task = Task { [self] in await serve(events) }
        serving.withLock { $0 = task }
        startLiving()
    }

    private func startLiving() {
        let task = begin { [self] in await live() }
        living.withLock { $0 = task }
    }

    private func advertise() async throws(BluetoothError) {
        try await peripheral.advertise(AdvertisementData(services: [Scene.service]))
    }

    /// Carries a call out on a task of its own, and keeps account of it.
    @discardableResult
    private func begin<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Task<Value, Never> {
        state.withLock { $0.started += 1 }
        return Task { [self] in
            let value = await body()
            state.withLock { $0.ended += 1 }
            return value
        }
    }

    private func enter(_ phase: Phase) { state.withLock { $0.phase = phase } }

    // MARK: - The two sides

    /// The central's rounds, until its adapter is gone.
    private func live() async {
        while true {
            do throws(BluetoothError) {
                try await round()
                state.withLock { $0.rounds += 1 }
            } catch {
                switch error.code {
                case .adapterRemoved, .adapterClosed: return
                // The peripheral was unplugged: in the middle, or before an answer. Or the message broke off.
                case .disconnected, .messageIncomplete, .timedOut, .notFound: continue
                default: state.withLock { $0.unexpected.append("round: \(error)") }
                }
            }
        }
    }

    private func round() async throws(BluetoothError) {
        enter(.scanning)
        let sighting = try await central.firstSighting(for: ScanFilter(services: [Scene.service]))
        enter(.connecting)
        let connection = try await central.connect(to: sighting.address)
        begin { [self] in
            do throws(BluetoothError) { try await connection.waitForDisconnection() } catch {
                guard error != .adapterRemoved, error != .adapterClosed else { return }
                state.withLock { $0.unexpected.append("waiting: \(error)") }
            }
        }
        enter(.discovering)
        _ = try await connection.discoverAll()
        let stored = try await connection.characteristic(Scene.stored, in: Scene.service)
        let notified = try await connection.characteristic(Scene.notified, in: Scene.service)
        enter(.writing)
        try await connection.write(value, to: stored)
        _ = try await connection.read(stored)
        enter(.receiving)
        let received = try await connection.receiveMessage(from: notified)
        if received != message { state.withLock { $0.unexpected.append("another message") } }
        enter(.leaving)
        try await connection.disconnect()
    }

    private func serve(_ events: EventSequence<CharacteristicEvent>) async {
        do throws(BluetoothError) {
            for try await case .subscribed(let subscriber) in events {
                begin { [self] in
                    do throws(BluetoothError) { try await subscriber.sendMessage(message) } catch {
                        switch error.code {
                        case .adapterRemoved, .adapterClosed, .disconnected, .notSubscribed: return
                        default: state.withLock { $0.unexpected.append("sending: \(error)") }
                        }
                    }
                }
            }
        } catch {}
    }

    // MARK: - Unplugging

    /// Lets the two get on for a while, pulls one of them out, and waits until all is well again.
    func unplugOnce(_ cycle: Int) async throws {
        let (isCentral, isAdvertising, wait, more) = generator.withLock { generator in
            (
                generator.oneIn(2), generator.oneIn(4), Int.random(in: 0..<1_500_000, using: &generator),
                Int.random(in: 0..<6000, using: &generator)
            )
        }
        await radio.advance(by: .microseconds(wait))
        let side = isCentral ? 0 : 1
        var advertising: Task<BluetoothError?, Never>?
        if side == 1, isAdvertising {
            enter(.advertising)
            advertising = begin { [self] () -> BluetoothError? in
                do throws(BluetoothError) {
                    try await advertise()
                    return nil
                } catch {
                    return error
                }
            }
            await radio.advance(by: .microseconds(more))
        }
        state.withLock { $0.unplugged[$0.phase, default: 0] += 1 }
        let adapter = side == 0 ? central : peripheral
        ports[side].unplug()
        await until { adapter.information == nil }
        // A call that another thread made a moment before is refused by the next turn. No time passes for that.
        var left: [Int] = []
        for round in 0..<60_000 where left != [0, 0, 0] {
            if !left.isEmpty { await giveWay(round) }
            left = [await adapter.pendingCount, adapter.scanCount, adapter.connections.count]
        }
        if left != [0, 0, 0] { state.withLock { $0.unexpected.append("cycle \(cycle) left \(left)") } }
        // All that was begun on this side ends at once, without time passing.
        if side == 0 { await living.withLock { $0 }?.value }
        let failure = await advertising?.value
        if let failure, failure != .adapterRemoved {
            state.withLock { $0.unexpected.append("advertising: \(failure)") }
        }
        await radio.advance(by: .microseconds(more))
        ports[side].plugIn()
        try await radio.passing { await until { adapter.information != nil } }
        if side == 0 { startLiving() }
        // It was unplugged before its advertising had begun, and the call has said so.
        if failure != nil { try await radio.passing { [self] in try await advertise() } }
        try await radio.passing { [self] in
            await until { radio.withAir { [ports] air, _ in air[ports[1].identifier].isAdvertising } }
        }
    }

    /// Whether the two still come to the end of a round.
    func completes() async throws -> Bool {
        let before = tally.rounds
        try await radio.passing { [self] in await until { tally.rounds > before } }
        return true
    }

    func end() async {
        await central.close()
        await peripheral.close()
        await serving.withLock { $0 }?.value
        await until { tally.started == tally.ended }
    }
}
