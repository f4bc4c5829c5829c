import BluetoothBase
import Testing

@testable import BluetoothAdapter

@Suite("When to reopen a controller")
struct ReopeningTests {
    /// How long after the one before each try comes, where all of them fail at once.
    static func gaps(_ reopening: inout Reopening, _ now: inout Instant, limit: Int = 100) -> [Duration] {
        var gaps: [Duration] = []
        while gaps.count < limit, let due = reopening.nextTry {
            gaps.append(now.duration(to: due))
            now = due
            reopening.begin()
            reopening.failed(isAbsent: true, at: now)
        }
        return gaps
    }

    static let delays: [Duration] = [100, 200, 400, 800, 1600, 3200, 5000, 5000].map { .milliseconds($0) }

    @Test("With arrival events, a few attempts follow each arrival, and then reopening waits for the next")
    func toldOfArrivals() {
        var reopening = Reopening()
        #expect(reopening.nextTry == nil)
        var now = Instant(nanoseconds: 7)
        reopening.isToldOfArrivals = true
        reopening.lost(at: now)
        for _ in 0..<3 {
            #expect(Self.gaps(&reopening, &now) == Self.delays)
            #expect(reopening.nextTry == nil)
            now = now.advanced(by: .seconds(3600))
            reopening.arrived(at: now)
        }
    }

    @Test("Without arrival events, attempts continue indefinitely")
    func notTold() {
        var reopening = Reopening()
        var now = Instant.zero
        reopening.lost(at: now)
        let gaps = Self.gaps(&reopening, &now)
        #expect(Array(gaps.prefix(8)) == Self.delays)
        #expect(gaps.count == 100)
        #expect(gaps.dropFirst(8).allSatisfy { $0 == .seconds(5) })
    }

    @Test("An arrival during an attempt is not missed")
    func arrivalDuringTry() {
        var reopening = Reopening()
        var now = Instant.zero
        reopening.isToldOfArrivals = true
        reopening.lost(at: now)
        for _ in 0..<7 {
            reopening.begin()
            reopening.failed(isAbsent: true, at: now)
        }
        reopening.begin()
        reopening.arrived(at: now)
        reopening.failed(isAbsent: true, at: now)
        #expect(Self.gaps(&reopening, &now) == Self.delays)
    }

    @Test("An arrival that an attempt may have caused does not trigger another attempt")
    func arrivalByTry() {
        var reopening = Reopening()
        reopening.isToldOfArrivals = true
        reopening.lost(at: .zero)
        for _ in 0..<8 {
            reopening.begin()
            reopening.arrived(at: .zero)
            reopening.failed(isAbsent: false, at: .zero)
        }
        #expect(reopening.nextTry == nil)
        reopening.arrived(at: .zero)
        #expect(reopening.nextTry != nil)
    }

    @Test("An arrival during an attempt does not start a second one")
    func noTwoTries() {
        var reopening = Reopening()
        reopening.isToldOfArrivals = true
        reopening.lost(at: .zero)
        reopening.begin()
        reopening.arrived(at: .zero)
        #expect(reopening.nextTry == nil)
    }

    @Test("A controller that comes and goes is reopened with growing delays, which reset once it stays")
    func flapping() {
        var reopening = Reopening()
        var now = Instant.zero
        var gaps: [Duration] = []
        for _ in 0..<8 {
            reopening.lost(at: now)
            guard let due = reopening.nextTry else { break }
            gaps.append(now.duration(to: due))
            reopening.begin()
            now = due.advanced(by: .seconds(1))
            reopening.succeeded(at: due)
            #expect(reopening.nextTry == nil)
        }
        #expect(gaps == Self.delays)
        now = now.advanced(by: .seconds(9))
        reopening.lost(at: now)
        #expect(reopening.nextTry == now.advanced(by: .milliseconds(100)))
    }
}
