import BluetoothHost
import Testing

@Suite("Counters of signatures")
struct SignatureCountersTests {
    @Test("Each is used once, however often the program is killed")
    func once() {
        var stored: UInt32 = 0
        var used: [UInt32] = []
        for count in [1, 100, 101, 0, 250] {
            // A run that is killed: it knows only what is on disk.
            var counters = SignatureCounters(stored: stored)
            for _ in 0..<count {
                if counters.isExhausted { stored = counters.reserve() }
                if let counter = counters.take() { used.append(counter) }
            }
        }
        #expect(used.count == 452)
        #expect(Set(used).count == used.count && used.sorted() == used)
        #expect(used.prefix(3) == [0, 100, 101])
        #expect(stored == 700)
    }

    @Test("None is given out that is not reserved")
    func reserved() {
        var counters = SignatureCounters(stored: 7)
        #expect(counters.isExhausted)
        #expect(counters.take() == nil)
        #expect(counters.reserve() == 107)
        #expect(counters.take() == 7)
    }

    @Test("A key that is used up signs no more")
    func last() {
        var counters = SignatureCounters(stored: .max - 2)
        #expect(counters.reserve() == .max)
        #expect([counters.take(), counters.take(), counters.take()] == [.max - 2, .max - 1, nil])
        #expect(counters.reserve() == .max)
        #expect(counters.take() == nil)
    }
}
