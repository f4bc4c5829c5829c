@testable import DBus
import Testing

/// A program that calls another one, which answers only when the test says so.
private final class Program {
    let bus: PrivateBus
    let caller: BusConnection
    private let called: BusConnection
    private(set) var received: [Message] = []
    private(set) var results: [Result<[DBusValue], BusError>] = []
    private var pending: [BusConnection.PendingCall] = []

    init() throws {
        bus = try PrivateBus()
        caller = try bus.connect()
        called = try bus.connect()
        try called.receiveCalls { [unowned self] in received.append($0) }
    }

    var name: String { called.uniqueName }

    func call(_ count: Int = 1, timeout: Duration = .seconds(15)) {
        for _ in 0..<count {
            pending.append(
                caller.call(name, .root, "org.example", "Ask", timeout: timeout) { [unowned self] reply in
                    results.append(reply)
                })
        }
    }

    /// Abandons all calls.
    func abandon() { pending = [] }

    func answer(_ index: Int) throws {
        try called.send(try called.makeReply(to: received[index]))
    }

    /// Processes what was sent until now, in both directions.
    func settle() throws {
        for (one, other) in [(caller, called), (called, caller)] {
            _ = try bus.call(one, other.uniqueName, "/", "org.freedesktop.DBus.Peer", "Ping").get()
        }
    }
}

@Suite struct OutgoingCallTests {
    @Test func `calls beyond a program's share wait until it answers`() throws {
        let program = try Program()
        program.call(OutgoingCalls.share + 1)
        try program.bus.run { program.received.count == OutgoingCalls.share }
        try program.answer(3)
        try program.bus.run { program.received.count == OutgoingCalls.share + 1 }
        #expect(program.results.count == 1)
    }

    @Test func `a call that nobody needs keeps its place until it is answered, and a waiting one is not made`() throws {
        let program = try Program()
        program.call(OutgoingCalls.share + 1)
        try program.bus.run { program.received.count == OutgoingCalls.share }
        program.abandon()
        program.call()
        for index in 0..<2 { try program.answer(index) }
        try program.bus.run { program.received.count == OutgoingCalls.share + 1 }
        try program.settle()
        #expect(program.received.count == OutgoingCalls.share + 1)
        #expect(program.results.isEmpty)
    }

    @Test func `a program that answers none of its calls in time gets no more, and waiting ones fail`() throws {
        let program = try Program()
        program.call(OutgoingCalls.share + 2, timeout: .microseconds(1))
        try program.bus.run { program.results.count == OutgoingCalls.share + 2 }
        program.call()
        try program.bus.run { program.results.count == OutgoingCalls.share + 3 }
        let refusals = program.results.filter { result in
            if case .failure(let error) = result { error.name.hasSuffix("LimitsExceeded") } else { false }
        }
        #expect(refusals.count == 3)
        #expect(program.received.count <= OutgoingCalls.share)
    }

    @Test func `a program that has left no longer counts`() throws {
        let program = try Program()
        program.call(OutgoingCalls.share, timeout: .microseconds(1))
        try program.bus.run { program.results.count == OutgoingCalls.share }
        program.caller.forgetCalls(to: program.name)
        program.call()
        try program.bus.run { program.received.count == OutgoingCalls.share + 1 }
    }
}

@Suite struct TextPrefixTests {
    @Test(arguments: [
        ("name", 248, "name"), ("name", 4, "name"), ("name", 3, "nam"), ("name", 0, ""), ("aé", 2, "a"),
        ("aé", 3, "aé"), ("👩‍🔬", 10, "👩‍"),
    ])
    func `a text is cut between its characters`(text: String, octets: Int, expected: String) {
        #expect(BusText.prefix(text, octets: octets) == expected)
    }
}
