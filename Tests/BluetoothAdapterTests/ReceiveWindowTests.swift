import BluetoothAdapter
import BluetoothUsers
import Testing

@testable import BluetoothHost

@Suite("The octets that wait for a consumer")
struct ReceiveWindowTests {
    private static let length = 1 << 15
    /// The numbers of values of this length above which the link is held, and resumes.
    private static let held = ReceiveWindow.limit / 2 / length
    private static let resumed = ReceiveWindow.limit / 4 / length
    private static let all = ReceiveWindow.limit / length

    /// A link whose values wait in a window.
    private final class FakeLink {
        let window = ReceiveWindow()
        let identifier = LinkIdentifier(slot: 3, generation: 4)
        private(set) var calls: [HostCall.Kind] = []
        private(set) var isHeld = false
        private(set) var overflows = 0
        private(set) var waiting = 0
        /// The number of values that the consumer removes before the next call is posted.
        var removedMeanwhile = 0

        func add(_ count: Int = 1) {
            for _ in 0..<count {
                waiting += 1
                if window.add(length, on: identifier, post: carryOut) { overflows += 1 }
            }
        }

        func remove(_ count: Int = 1) {
            for _ in 0..<count {
                waiting -= 1
                window.remove(length, on: identifier, post: carryOut)
            }
        }

        /// Removes a value. Returns the call that its consumer has not yet posted.
        func removeInterrupted() -> HostCall.Kind? {
            var interrupted: HostCall.Kind?
            waiting -= 1
            window.remove(length, on: identifier) { interrupted = $0 }
            return interrupted
        }

        func carryOut(_ call: HostCall.Kind) {
            switch call {
            case .holdReceiving(identifier): isHeld = true
            case .resumeReceiving(identifier): isHeld = false
            default: Issue.record("\(call)")
            }
            calls.append(call)
            let count = removedMeanwhile
            removedMeanwhile = 0
            remove(count)
        }
    }

    private let link = FakeLink()

    @Test("A held link resumes once, when three quarters of the limit are free")
    func held() {
        for round in 1...3 {
            link.add(Self.held)
            #expect(!link.isHeld)
            link.add(2)
            #expect(link.isHeld && link.calls.count == 2 * round - 1, "it is held once")
            link.remove(link.waiting - Self.resumed)
            #expect(link.isHeld)
            link.remove()
            #expect(!link.isHeld)
            link.remove(link.waiting)
            #expect(link.calls.count == 2 * round, "it resumes once")
        }
        #expect(link.overflows == 0)
    }

    @Test("A link resumes at once if everything is consumed before its hold has been noted")
    func late() {
        for round in 1...3 {
            link.add(Self.held)
            link.removedMeanwhile = Self.held + 1
            link.add()
            #expect(!link.isHeld && link.waiting == 0 && link.calls.count == 2 * round)
        }
    }

    @Test("A resumption that is posted late does not leave the link without a hold until it overflows")
    func interrupted() throws {
        link.add(Self.held + 1)
        link.remove(link.waiting - Self.resumed)
        let resumption = try #require(link.removeInterrupted())
        link.add(Self.held + 1 - link.waiting)
        #expect(link.isHeld && link.calls.count == 2)
        link.carryOut(resumption)
        #expect(!link.isHeld)
        while !link.isHeld, link.waiting < Self.all { link.add() }
        #expect(link.isHeld && link.overflows == 0)
        link.remove(link.waiting)
        #expect(!link.isHeld)
    }

    @Test("An overflow is reported once")
    func overflow() {
        link.add(Self.all)
        #expect(link.isHeld && link.overflows == 0)
        link.add(Self.all)
        #expect(link.overflows == 1)
    }

    @Test("An empty value counts as well")
    func empty() {
        var overflows = 0
        for _ in 0...ReceiveWindow.limit / ReceiveWindow.leastCount {
            #expect(overflows == 0)
            if link.window.add(0, on: link.identifier, post: link.carryOut) { overflows += 1 }
        }
        #expect(overflows == 1)
    }
}
