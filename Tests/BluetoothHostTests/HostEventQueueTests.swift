import BluetoothATT
import BluetoothBase
import Testing

@testable import BluetoothHost

@Suite("The host's queue of events")
struct HostEventQueueTests {
    @Test("events are taken in order, however many wait", arguments: 0...6)
    func order(_ waiting: Int) {
        var queue = HostEventQueue(), appended: UInt8 = 0, taken: UInt8 = 0
        for round in 1...20 {
            // The number of waiting events stays the same, except in every fifth round, which takes all of them.
            while Int(appended - taken) < waiting + round % 3 {
                queue.append(.link(Self.link(appended), .readyToSend))
                appended += 1
                #expect(!queue.isEmpty)
            }
            let left = round % 5 == 0 ? 0 : waiting
            while Int(appended - taken) > left {
                #expect(Self.link(of: queue.take()) == Self.link(taken))
                taken += 1
            }
            #expect(queue.isEmpty == (appended == taken))
        }
        while let event = queue.next() {
            #expect(Self.link(of: event) == Self.link(taken))
            taken += 1
        }
        #expect(appended == taken && queue.isEmpty && Self.link(of: queue.take()) == nil)
    }

    @Test("bytes stay valid until next() finds no event")
    func bytes() {
        var queue = HostEventQueue()
        for value in [1, 2, 3] as [UInt8] {
            let payload = queue.store([value, value].span)
            queue.append(.client(Self.link(0), .notification(0x0003, payload)))
        }
        var payloads: [Payload] = []
        while case .client(_, .notification(_, let payload)) = queue.take() { payloads.append(payload) }
        #expect(payloads.map { queue.octets(of: $0)[0] } == [1, 2, 3])
        #expect(Self.link(of: queue.next()) == nil && queue.storage.isEmpty)
    }

    @Test("notifications and other events are taken in the order in which they were appended", arguments: 0..<32)
    func notifications(_ pattern: Int) {
        var queue = HostEventQueue(), taken: [UInt16] = []
        func append(_ number: UInt8) {
            if pattern >> number & 1 == 0 { return queue.append(.link(Self.link(number), .readyToSend)) }
            let payload = queue.store([number].span)
            queue.append(.client(Self.link(number), .notification(3, payload)))
        }
        for number in 0..<5 as Range<UInt8> {
            append(number)
            #expect(!queue.isEmpty)
        }
        // Only one that is the oldest is taken by itself.
        let first = queue.takeNotification()
        #expect((first != nil) == (pattern & 1 == 1))
        if let first { taken.append(first.link.slot) }
        #expect(queue.takeNotification() == nil)
        while let event = queue.take() {
            switch event {
            case .link(let link, .readyToSend): taken.append(link.slot)
            case .client(let link, .notification(3, let payload)):
                taken.append(link.slot)
                #expect(UInt16(queue.octets(of: payload)[0]) == link.slot)
            default: Issue.record("another event: \(event)")
            }
        }
        #expect(taken == [0, 1, 2, 3, 4] && queue.isEmpty)
    }

    @Test("an indication is not taken as a notification, and stays the oldest event")
    func indication() {
        var queue = HostEventQueue()
        let payload = queue.store([7, 8].span)
        queue.append(.client(Self.link(1), .indication(3, payload)))
        queue.append(.client(Self.link(2), .notification(4, payload)))
        #expect(queue.takeNotification() == nil)
        guard case .client(let link, .indication(3, payload)) = queue.take() else {
            Issue.record("the indication is gone")
            return
        }
        #expect(link == Self.link(1))
        guard case .client(Self.link(2), .notification(4, payload)) = queue.take() else {
            Issue.record("the notification is gone")
            return
        }
        #expect(queue.isEmpty)
    }

    private static func link(of event: HostEvent?) -> LinkIdentifier? {
        if case .link(let link, .readyToSend) = event { link } else { nil }
    }

    private static func link(_ number: UInt8) -> LinkIdentifier { LinkIdentifier(slot: UInt16(number), generation: 0) }
}
