import BluetoothLE
import Testing

@testable import BluetoothCommandLine

/// How long a device may take for its answers.
struct AnswerLimitTests {
    private static let peer = PeerID(DeviceAddress(0xC0DE_0000_000F, kind: .random))

    @Test(
        "An answer may take a third of the remaining time, and at least four seconds if the timeout allows",
        arguments: [(30, 0, 10), (30, 12, 6), (30, 21, 4), (30, 40, 4), (3, 0, 3), (3, 2, 3)] as [(Int64, Int64, Int64)]
    )
    func limit(_ timeout: Int64, _ passed: Int64, _ limit: Int64) {
        let clock = HandClock()
        let attempts = TimeLimits.$clock.withValue(clock) { Attempts(within: Seconds(timeout)) }
        clock.advance(by: .seconds(passed))
        #expect(attempts.left == .seconds(max(0, timeout - passed)))
        #expect(attempts.answerLimit == .seconds(limit))
    }

    @Test(
        "A discovery on a slow link gets the time that its round trips need, up to the remaining time",
        arguments: [(60, 0, 10_000), (100, 0, 10_000), (400, 0, 25_600), (2000, 0, 30_000), (2000, 12, 18_000)]
            as [(Int, Int64, Int)])
    func roundTrips(_ milliseconds: Int, _ passed: Int64, _ limit: Int) {
        let clock = HandClock()
        let attempts = TimeLimits.$clock.withValue(clock) { Attempts(within: Seconds(30)) }
        clock.advance(by: .seconds(passed))
        #expect(attempts.answerLimit(roundTrip: .milliseconds(milliseconds)) == .milliseconds(limit))
    }

    @Test("A round trip takes two connection events more than the device may skip")
    func roundTrip() {
        #expect(AnswerLimits.roundTrip(interval: .milliseconds(50), latency: 4) == .milliseconds(300))
    }

    @Test("After two exceeded limits, the next one is all the remaining time")
    func growth() async {
        let clock = HandClock()
        await TimeLimits.$clock.withValue(clock) {
            let attempts = Attempts(within: Seconds(60), PairingActivity())
            var sleeps = clock.sleeps.makeAsyncIterator()
            for limit in [20, 13, 26] as [Int64] {
                async let answer = Self.outcome(attempts) { () throws(BluetoothError) in try await Self.never() }
                #expect(await sleeps.next() == .seconds(limit))
                clock.advance(by: .seconds(limit))
                #expect(await answer == .failure(.peerNotResponding))
                if limit == 20 { clock.advance(by: .seconds(1)) }
            }
        }
    }

    @Test("No limit expires while a user takes part in a pairing; afterwards, it starts again")
    func person() async {
        let clock = HandClock(), pairings = PairingActivity()
        await TimeLimits.$clock.withValue(clock) {
            let attempts = Attempts(within: Seconds(30), pairings)
            let (answers, device) = AsyncStream.makeStream(of: Int.self)
            var sleeps = clock.sleeps.makeAsyncIterator()
            async let answer = Self.outcome(attempts) { () throws(BluetoothError) in
                for await answer in answers { return answer }
                throw .cancelled
            }
            #expect(await sleeps.next() == .seconds(10))
            pairings.began(with: Self.peer)
            for _ in 0..<3 {
                clock.advance(by: .seconds(10))
                #expect(await sleeps.next() == .seconds(10))
            }
            pairings.ended(with: Self.peer)
            clock.advance(by: .seconds(10))
            #expect(await sleeps.next() == .seconds(10))
            device.yield(7)
            #expect(await answer == .success(7))
        }
    }

    @Test("A device that does not answer after the pairing exceeds the limit")
    func silenceAfterPairing() async {
        let clock = HandClock(), pairings = PairingActivity()
        await TimeLimits.$clock.withValue(clock) {
            let attempts = Attempts(within: Seconds(30), pairings)
            var sleeps = clock.sleeps.makeAsyncIterator()
            async let answer = Self.outcome(attempts) { () throws(BluetoothError) in try await Self.never() }
            #expect(await sleeps.next() == .seconds(10))
            pairings.began(with: Self.peer)
            pairings.ended(with: Self.peer)
            clock.advance(by: .seconds(10))
            #expect(await sleeps.next() == .seconds(10))
            clock.advance(by: .seconds(10))
            #expect(await answer == .failure(.peerNotResponding))
        }
    }

    @Test("A pairing ends with its link, and the end of an unknown pairing does not count")
    func activity() {
        let pairings = PairingActivity()
        pairings.ended(with: Self.peer)
        #expect(pairings.endCount == 0)
        pairings.began(with: Self.peer)
        pairings.began(with: Self.peer)
        #expect(pairings.peers == [Self.peer])
        pairings.endAll()
        #expect(pairings.peers.isEmpty && pairings.endCount == 1)
    }

    private static func outcome(
        _ attempts: Attempts, _ body: @escaping @Sendable () async throws(BluetoothError) -> Int
    ) async -> Result<Int, BluetoothError> {
        do throws(BluetoothError) {
            return .success(try await attempts.answer(roundTrip: .zero, body))
        } catch {
            return .failure(error)
        }
    }

    /// A device that never answers.
    private static func never() async throws(BluetoothError) -> Int {
        let (answers, device) = AsyncStream.makeStream(of: Int.self)
        defer { device.finish() }
        for await answer in answers { return answer }
        throw .cancelled
    }
}
