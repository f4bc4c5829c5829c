import BluetoothLE
import Testing

@testable import BluetoothCommandLine

/// The time of a command whose adapter is opened twice, or that goes on for ever.
struct SharedDeadlineTests {
    @Test("After a refusal, the adapter is opened again with the remaining time")
    func refusal() async throws {
        let clock = HandClock()
        try await TimeLimits.$clock.withValue(clock) {
            let deadline = SharedDeadline(Seconds(30))
            var count = 0
            let left = try await deadline.run { opening in
                count += 1
                #expect(opening.left == .seconds(count == 1 ? 30 : 18))
                // Opening has a time for itself.
                if count == 1 { clock.advance(by: .seconds(5)) }
                let attempts = deadline.begin()
                guard count == 1 else { return attempts.left }
                #expect(attempts.left == .seconds(30))
                clock.advance(by: .seconds(12))
                throw BluetoothError.refusedByController(.commandDisallowed)
            }
            #expect(count == 2)
            #expect(left == .seconds(18))
        }
    }

    @Test("A refusal at the deadline, a second refusal and any other error end the command")
    func ends() async {
        let clock = HandClock()
        await TimeLimits.$clock.withValue(clock) {
            for (error, passed, expected) in [
                (BluetoothError.refusedByController(.commandDisallowed), 30, 1),
                (.refusedByController(.commandDisallowed), 1, 2), (.notReady, 1, 1),
            ] {
                let deadline = SharedDeadline(Seconds(30))
                var count = 0
                await #expect(throws: error) {
                    try await deadline.run { _ in
                        count += 1
                        _ = deadline.begin()
                        clock.advance(by: .seconds(passed))
                        throw error
                    }
                }
                #expect(count == expected)
            }
        }
    }

    @Test("Without a time limit, a command survives any number of refusals if each attempt lasts a minute")
    func unlimited() async throws {
        let clock = HandClock()
        try await TimeLimits.$clock.withValue(clock) {
            let waker = Task { for await pause in clock.sleeps { clock.advance(by: pause) } }
            defer { waker.cancel() }
            var count = 0
            try await Attempts.unlimited(ready: {}) {
                count += 1
                guard count <= 20 else { return }
                clock.advance(by: .seconds(61))
                throw BluetoothError.refusedByController(.commandDisallowed)
            }
            #expect(count == 21)
            await #expect(throws: BluetoothError.refusedByController(.commandDisallowed)) {
                try await Attempts.unlimited(ready: {}) {
                    count += 1
                    throw BluetoothError.refusedByController(.commandDisallowed)
                }
            }
            #expect(count == 24)
        }
    }
}
