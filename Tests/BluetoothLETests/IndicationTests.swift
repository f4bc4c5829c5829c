import AdapterTestSupport
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Indications", .timeLimit(.minutes(30)))
struct IndicationTests {
    @Test("Concurrent indications are queued, and each waits for its own confirmation")
    func line() async throws {
        let scene = try await Scene(time: .manual)
        let (values, subscriber) = try await scene.subscribe(to: Scene.indicated)
        let confirmed = Record<UInt8>()
        try await withThrowingTaskGroup { group in
            for number in 0..<8 as Range<UInt8> {
                group.addTask {
                    try await subscriber.indicate([number])
                    confirmed.add(number)
                }
                await until { await scene.peripheral.pendingCount == Int(number) + 1 }
            }
            #expect(confirmed.all.isEmpty)
            // One interval and a bit: no more than one exchange of value and confirmation fits.
            for _ in 0..<4 {
                let before = await scene.peripheral.pendingCount
                await scene.radio.advance(by: .milliseconds(30))
                #expect(await scene.peripheral.pendingCount >= before - 1)
            }
            try await scene.radio.passing { await until { confirmed.all.count == 8 } }
            try await group.waitForAll()
        }
        #expect(confirmed.all == Array(0..<8))
        #expect(try await values.prefix(count: 8) == (0..<8).map { [$0] })
    }

    @Test("A cancelled indication leaves the queue, whatever its position", arguments: [0, 1, 2])
    func calledOff(_ index: Int) async throws {
        let scene = try await Scene(time: .manual)
        let (values, subscriber) = try await scene.subscribe(to: Scene.indicated)
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<3 as Range<UInt8> {
            tasks.append(Task { try await subscriber.indicate([number]) })
            await until { await scene.peripheral.pendingCount == Int(number) + 1 }
        }
        tasks[index].cancel()
        let all = tasks
        await #expect(throws: BluetoothError.cancelled) { try await all[index].value }
        try await scene.radio.passing {
            for (number, task) in all.enumerated() where number != index { try await task.value }
        }
        // The first had been sent when it was called off.
        let expected = (0..<3 as Range<UInt8>).filter { $0 == 0 || Int($0) != index }
        #expect(try await values.prefix(count: expected.count) == expected.map { [$0] })
        try await scene.radio.passing { try await subscriber.indicate([9]) }
        #expect(try await values.first() == [9])
    }

    @Test("An indication that cannot be sent does not block the next one")
    func tooLong() async throws {
        let scene = try await Scene(time: .manual)
        let (values, subscriber) = try await scene.subscribe(to: Scene.indicated)
        let first = Task { try await subscriber.indicate([1]) }
        await until { await scene.peripheral.pendingCount == 1 }
        let second = Task { try await subscriber.indicate([UInt8](repeating: 0, count: 515)) }
        await until { await scene.peripheral.pendingCount == 2 }
        let third = Task { try await subscriber.indicate([3]) }
        await until { await scene.peripheral.pendingCount == 3 }
        try await scene.radio.passing {
            try await first.value
            await #expect(throws: BluetoothError.self) { try await second.value }
            try await third.value
        }
        #expect(try await values.prefix(count: 2) == [[1], [3]])
    }

    @Test("An indication that is never confirmed ends the link and all queued indications after 30 seconds")
    func neverConfirmed() async throws {
        let scene = try await Scene(time: .manual)
        let (values, subscriber) = try await scene.subscribe(to: Scene.indicated)
        // What the central finds out by itself is not to be what goes unanswered.
        await scene.radio.advance(by: .seconds(2))
        scene.radio.withAir { air, _ in air[scene.centralPort.identifier].faults.isSilent = true }
        let tasks = (0..<3 as Range<UInt8>).map { number in Task { try await subscriber.indicate([number]) } }
        await until { await scene.peripheral.pendingCount == 3 }
        await scene.radio.advance(by: .seconds(29))
        #expect(await scene.peripheral.pendingCount == 3)
        for task in tasks {
            await #expect(throws: BluetoothError.disconnected(.transactionTimeout)) {
                try await scene.radio.passing { try await task.value }
            }
        }
        _ = values
    }
}
