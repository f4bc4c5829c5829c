import BluetoothAdapter
import BluetoothUsers
import Testing

@testable import BluetoothHost

@Suite("The octets that wait for a consumer")
struct ReceiveWindowTests {
    private let window = ReceiveWindow()
    private static let length = 1 << 16

    /// Adds values until there is advice. Returns their number.
    private func fill() -> (count: Int, advice: ReceiveWindow.Advice) {
        var count = 0
        while count < 100 {
            count += 1
            let advice = window.add(Self.length)
            if advice != .none { return (count, advice) }
        }
        return (count, .none)
    }

    /// Removes values. Returns how often the link should resume.
    private func remove(_ count: Int) -> Int {
        (0..<count).count { _ in window.remove(Self.length) }
    }

    /// Holds the link. Returns whether it resumes at once.
    private func hold() -> Bool {
        let link = LinkIdentifier(slot: 3, generation: 4)
        var calls: [String] = []
        window.hold(link) { calls.append("\($0)") }
        let expected = [HostCall.Kind.holdReceiving(link), .resumeReceiving(link)].map { "\($0)" }
        #expect(calls == expected || calls == [expected[0]])
        return calls.count == 2
    }

    @Test("A held link resumes once, when three quarters of the limit are free")
    func held() {
        for _ in 0..<3 {
            let (count, advice) = fill()
            #expect(advice == .hold && count == ReceiveWindow.limit / 2 / Self.length + 1)
            #expect(!hold())
            #expect(window.add(Self.length) == .none, "a hold is advised once")
            let rest = ReceiveWindow.limit / 4 / Self.length
            #expect(remove(count + 1 - rest) == 0)
            #expect(remove(rest) == 1)
        }
    }

    @Test("A link resumes at once if everything was consumed before its hold was posted")
    func late() {
        for _ in 0..<3 {
            let (count, advice) = fill()
            #expect(advice == .hold)
            #expect(remove(count) == 0, "there is no hold to end yet")
            #expect(hold())
        }
    }

    @Test("An overflow is advised once")
    func overflow() {
        #expect(fill().advice == .hold)
        _ = hold()
        #expect(fill().advice == .overflow)
        #expect(fill().advice == .none)
    }
}
