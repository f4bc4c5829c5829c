import BluetoothBase
import Testing

@testable import BluetoothAdapter

@Suite("When to try to get a controller back")
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

    @Test("Where arrivals are told, a few tries follow each, and then the next is waited for")
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

    @Test("Where nothing tells, tries go on")
    func notTold() {
        var reopening = Reopening()
        var now = Instant.zero
        reopening.lost(at: now)
        let gaps = Self.gaps(&reopening, &now)
        #expect(Array(gaps.prefix(8)) == Self.delays)
        #expect(gaps.count == 100)
        #expect(gaps.dropFirst(8).allSatisfy { $0 == .seconds(5) })
    }

    @Test("An arrival while a try is under way is not missed")
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

    @Test("An arrival that a try itself may have caused does not bring another one")
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

    @Test("An arrival does not hurry a try that is under way")
    func noTwoTries() {
        var reopening = Reopening()
        reopening.isToldOfArrivals = true
        reopening.lost(at: .zero)
        reopening.begin()
        reopening.arrived(at: .zero)
        #expect(reopening.nextTry == nil)
    }

    @Test("One that comes and goes is tried ever more slowly; one that stays for a while is forgiven")
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
