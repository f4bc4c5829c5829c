import BluetoothAdapter
import BluetoothBase
import CoreBluetooth
import Synchronization
import Testing

/// A call of a test, such as `HeartRateTests.swift:12`.
struct TestCall: Sendable, CustomStringConvertible {
    let fileID: String
    let line: Int

    init(_ fileID: String, _ line: Int) {
        self.fileID = fileID
        self.line = line
    }

    var description: String { "\(fileID.split(separator: "/").last ?? ""):\(line)" }

    /// Records an issue at the line of the call.
    func record(_ text: String) {
        Issue.record(
            "\(text)", sourceLocation: SourceLocation(fileID: fileID, filePath: fileID, line: line, column: 1))
    }
}

/// Waiting on the air of a test.
extension TestAir {
    /// The maximum wait of a call that has no limit argument, in the radio's time.
    static let limit = Duration.seconds(120)
    /// How often a call repeats that waits without time passing.
    private static let maximumRounds = 10_000

    /// The call on a radio that lets time pass for the current task, and limits it.
    private final class Passage: Sendable {
        @TaskLocal static var current: Passage?
        let air: ObjectIdentifier
        private let hasEnded = Atomic(false)

        init(_ air: TestAir) { self.air = ObjectIdentifier(air) }

        var isDone: Bool { hasEnded.load(ordering: .acquiring) }

        func end() { hasEnded.store(true, ordering: .releasing) }
    }

    /// Runs `body` as if no call let time pass for the current task: for tasks that outlive the call that started them.
    static func independently<Value>(_ body: () async -> Value) async -> Value {
        await Passage.$current.withValue(nil) { await body() }
    }

    /// Lets time pass until a call returns. Within another such call, the limit of that one applies.
    func wait<Value: Sendable>(
        atMost limit: Duration, _ call: TestCall, for body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if let outer = Passage.current, outer.air == ObjectIdentifier(self), !outer.isDone { return try await body() }
        let passage = Passage(self)
        let perform: @Sendable () async throws -> Value = {
            try await Passage.$current.withValue(passage) {
                defer { passage.end() }
                return try await body()
            }
        }
        guard radio.time == .manual else { return try await race(perform, limit, call) }
        async let value = perform()
        // Many calls need no time at all.
        await giveWay { passage.isDone }
        let start = now, end = start.advanced(by: limit)
        while !passage.isDone {
            try Task.checkCancellation()
            if now >= end {
                // It may have happened just in time.
                await calm(call)
                await giveWay { passage.isDone }
                if !passage.isDone { throw NothingHappened(limit, call) }
                break
            }
            // After some seconds, the exact instant hardly matters.
            await step(start.duration(to: now) < .seconds(5) ? .milliseconds(10) : .milliseconds(100), until: end)
        }
        return try await value
    }

    /// Waits for a call in real time.
    private func race<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value, _ limit: Duration, _ call: TestCall
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() ?? nil else { throw NothingHappened(limit, call) }
            return value
        }
    }

    /// Lets one step of time pass, but not beyond `end`.
    func step(_ step: Duration, until end: Instant) async {
        let step = min(step, max(.nanoseconds(1), now.duration(to: end)))
        guard radio.time == .manual else { return (try? await Task.sleep(for: step)) ?? () }
        await radio.advance(by: step)
        await deliver()
    }

    /// Waits until the app's callbacks for everything so far have been called.
    func deliver() async { await AdapterSimulation.waitUntilDelivered(at: transport) }

    /// Waits until nothing is left to do at this instant. No time passes.
    func calm(_ call: TestCall) async {
        var before = work, busy = ""
        for round in 1...Self.maximumRounds where !Task.isCancelled {
            if radio.time == .manual { await radio.advance(by: .zero) }
            await deliver()
            let after = work
            if after == before { return }
            if round == Self.maximumRounds { busy = self.busy(since: before) }
            before = after
        }
        if !Task.isCancelled { call.record("although no time passes, there is always something to do for \(busy)") }
    }

    /// Lets other tasks run until a call returns that needs no more than that.
    private func giveWay(until isDone: () -> Bool) async {
        for _ in 0..<64 where !isDone() { await Task.yield() }
    }

    func settle(_ call: TestCall) async {
        // Every action responds to a call or a packet, and both are counted. If every queue was found empty in a round
        // and the counts have not changed, nothing is left to do.
        let end = now.advanced(by: Self.limit)
        var before = work
        while !Task.isCancelled {
            await deliver()
            await waitUntilIdle(until: end)
            let after = work
            if after == before, isIdle { return }
            if now >= end {
                return call.record("after \(Self.limit), there is still something to do for \(busy(since: before))")
            }
            before = after
        }
    }

    /// Waits until nothing is in progress between the adapters.
    private func waitUntilIdle(until end: Instant) async {
        while !isIdle, now < end, !Task.isCancelled {
            if radio.time == .manual {
                await radio.advance(by: .milliseconds(10))
            } else {
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private var isIdle: Bool { runners.allSatisfy(\.runner.isIdle) && radio.isQuiet }

    /// The names of the devices that are busy.
    private func busy(since before: [ObjectIdentifier: UInt64]) -> String {
        let found = runners.filter { runner, _ in
            !runner.isIdle || before[ObjectIdentifier(runner)] != runner.work
        }
        return found.isEmpty ? "the radio" : found.map(\.name).joined(separator: ", ")
    }

    /// Advances manual time until an adapter that was closed is released.
    func release(_ runner: AdapterRunner, _ call: TestCall) async {
        let end = now.advanced(by: Self.limit)
        while !runner.isReleased, !Task.isCancelled {
            guard now < end else { return call.record("the app's adapter was not released within \(Self.limit)") }
            await radio.advance(by: .milliseconds(1))
        }
    }

    /// The number of calls and packets that each adapter has processed so far.
    private var work: [ObjectIdentifier: UInt64] {
        Dictionary(runners.map { (ObjectIdentifier($0.runner), $0.runner.work) }) { first, _ in first }
    }
}
