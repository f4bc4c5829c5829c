import Testing

@testable import BluetoothSimulation

@Suite("Which values a read may return")
struct StoredValueTests {
    @Test("A completed write hides the ones before it")
    func order() {
        var value = StoredValue([0])
        value.end(value.begin([1]), .done)
        value.end(value.begin([2]), .done)
        let read = value.beginRead()
        #expect([[0], [1], [2]].map { mayBe($0, value, read) } == [false, false, true])
    }

    @Test("Writes that overlap each other, or the read, may take effect in any order")
    func overlapping() {
        var value = StoredValue([0])
        let first = value.begin([1]), second = value.begin([2])
        value.end(first, .done)
        value.end(second, .done)
        let read = value.beginRead()
        let third = value.begin([3])
        #expect([[0], [1], [2], [3]].map { mayBe($0, value, read) } == [false, true, true, true])
        value.end(third, .done)
        let later = value.beginRead()
        #expect([[1], [2], [3]].map { mayBe($0, value, later) } == [false, false, true])
    }

    @Test(
        "A refused write is never visible; one with an unknown outcome may be visible at any time",
        arguments: [true, false])
    func uncertain(isRefused: Bool) {
        var value = StoredValue([0])
        value.end(value.begin([1]), isRefused ? .refused : .unknown)
        value.end(value.begin([2]), .done)
        #expect(mayBe([1], value, value.beginRead()) != isRefused)
        #expect(mayBe([2], value, value.beginRead()))
    }

    @Test("A read in parts may return anything if the value was written meanwhile")
    func parts() {
        var value = StoredValue([0, 0])
        #expect(!value.mayBeRead(since: value.beginRead(), isInParts: true) { $0 == [0, 1] })
        let read = value.beginRead()
        value.end(value.begin([1, 1]), .done)
        #expect(value.mayBeRead(since: read, isInParts: true) { $0 == [0, 1] })
    }

    private func mayBe(_ octets: [UInt8], _ value: StoredValue, _ read: Int) -> Bool {
        value.mayBeRead(since: read, isInParts: false) { $0 == octets }
    }

    @Test("A value truncated at the end is distinguished from a complete one", arguments: [11, 20, 256, 300])
    func whole(count: Int) {
        let bytes = SimulatedValue(.stream, station: 1, stream: 7, number: 9).bytes(count: count)
        #expect(SimulatedValue(bytes.span)?.number == 9 && SimulatedValue.isWhole(bytes.span))
        let part = Array(bytes.dropLast())
        #expect(SimulatedValue(part.span)?.number == 9)
        #expect(SimulatedValue.isWhole(part.span) == (part.count == SimulatedValue.leastCount))
    }
}
