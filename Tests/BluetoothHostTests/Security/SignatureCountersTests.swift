import BluetoothHost
import Testing

@Suite("Signature counters")
struct SignatureCountersTests {
    @Test("Each counter is used once, however often the program is killed")
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

    @Test("Only reserved counters are given out")
    func reserved() {
        var counters = SignatureCounters(stored: 7)
        #expect(counters.isExhausted)
        #expect(counters.take() == nil)
        #expect(counters.reserve() == 107)
        #expect(counters.take() == 7)
    }

    @Test("A key whose counters are used up cannot sign")
    func last() {
        var counters = SignatureCounters(stored: .max - 2)
        #expect(counters.reserve() == .max)
        let last: [UInt32?] = [UInt32.max - 2, UInt32.max - 1, nil]
        #expect([counters.take(), counters.take(), counters.take()] == last)
        #expect(counters.reserve() == .max)
        #expect(counters.take() == nil)
    }
}
