import DBus
import Testing

@Suite struct DetachedBusTests {
    @Test func `a message without a bus carries what a message on a bus carries`() throws {
        let bus = try DetachedBus()
        let values: [DBusValue] = [.string("x"), .variants([("a", .bytes([1, 2]))]), .array(of: "s", [])]
        let received = try bus.carry { message throws(BusFailure) in
            for value in values { try message.append(value) }
        }
        #expect(try received.get() == values)
    }

    @Test func `a signal buffer without a bus carries what a signal on a bus carries`() throws {
        let bus = try DetachedBus()
        let values: [DBusValue] = [.string("x"), .variants([("a", .bytes([1, 2]))]), .array(of: "s", [])]
        for _ in 0..<3 {
            let received = try bus.carrySignal("sa{sv}as") { signal throws(BusFailure) in
                for value in values { try signal.append(value) }
            }
            #expect(try received.get() == values)
        }
        // The text is not valid in D-Bus, which the receiver notices.
        let malformed = try bus.carrySignal("s") { signal throws(BusFailure) in try signal.append(name: "\u{0}") }
        #expect(throws: BusError.self) { try malformed.get() }
    }

    @Test func `a malformed signature makes an invalid message`() throws {
        let bus = try DetachedBus()
        #expect(throws: BusFailure.self) {
            try bus.carry { message throws(BusFailure) in try message.append(.array(of: "!", [])) }
        }
    }
}
