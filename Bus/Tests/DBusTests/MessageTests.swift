import BusObjects
import DBus
import Testing

/// Returns its arguments.
private final class Echo {
    static let interface = Interface<Echo>(
        "org.example.Echo",
        methods: [
            Method("Echo", [Argument("value", "v")], returns: [Argument("value", "v")]) { _, call in
                call.reply(call.arguments[0])
            }
        ])
}

@Suite struct MessageTests {
    private static let values: [DBusValue] = [
        .byte(255), .boolean(true), .boolean(false), .int16(-32768), .uint16(65535), .int32(.min), .uint32(.max),
        .int64(.min), .uint64(.max), .double(-0.5), .string(""), .string("Grüße, 世界 🫀"), .objectPath(.root),
        .signature("a{sv}"), .bytes([]), .bytes([0, 1, 255]), .array(of: "q", [.uint16(1), .uint16(2)]),
        .array(of: "s", []), .strings(["a", "b"]), .structure([.byte(1), .string("x")]),
        .array(of: "(yyay)", [.structure([.byte(0), .byte(9), .bytes([1, 2])])]),
        .variants([("a", .byte(1)), ("b", .strings(["x"]))]), .variants([]),
        .dictionary(key: "q", value: "v", [.init(.uint16(0x004C), .variant(.bytes([2, 21])))]),
        .variant(.variant(.string("nested"))),
    ]

    @Test(arguments: values)
    func `every type arrives as it was sent`(_ value: DBusValue) throws {
        let bus = try PrivateBus(), service = try bus.connect(), client = try bus.connect()
        let tree = try ObjectTree(service)
        tree.export(Echo(), as: Echo.interface, at: .root)
        let reply = try bus.call(client, service.uniqueName, "/", "org.example.Echo", "Echo", .variant(value))
        #expect(try reply.get() == [.variant(value)])
    }

    @Test(arguments: values)
    func `every type arrives in a signal buffer as it was sent`(_ value: DBusValue) throws {
        let bus = try PrivateBus(), service = try bus.connect(), client = try bus.connect()
        var received: [[DBusValue]] = []
        let match = try client.match("type='signal',sender='\(service.uniqueName)'") { message in
            received.append((try? message.readAll()) ?? [])
        }
        _ = try bus.call(client, "org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping")
        let buffer = SignalBuffer()
        for number in 0...1 as ClosedRange<UInt8> {
            buffer.begin(.root, "org.example.Echo", "Values", signature: "yvs")
            try buffer.append(.byte(number))
            try buffer.append(.variant(value))
            buffer.append(name: "end")
            #expect(service.send(buffer))
        }
        try bus.run { received.count == 2 }
        #expect(received == (0...1).map { [.byte($0), .variant(value), .string("end")] })
        withExtendedLifetime(match) {}
    }

    @Test func `a signal that does not fit in a buffer, or is incomplete, is not sent`() throws {
        let bus = try PrivateBus(), service = try bus.connect()
        let buffer = SignalBuffer()
        buffer.begin(.root, "org.example.Echo", "Values", signature: "ay")
        buffer.append(octets: Array(repeating: 1, count: 20_000))
        #expect(!service.send(buffer))
        buffer.begin(.root, "org.example.Echo", "Values", signature: "as")
        try buffer.open("a", "s")
        #expect(!service.send(buffer))
        #expect(throws: BusFailure.self) { try buffer.append(.fileDescriptor(0)) }
        buffer.begin(.root, "org.example.Echo", "Values", signature: "")
        #expect(service.send(buffer))
    }

    /// Scalars as sent and as received. A literal cannot contain noncharacters.
    @Test(arguments: [
        ([0x61, 0, 0x62], [0x61, 0x62]), ([0xFFFE], [0xFFFD]), ([0xFDD0, 0x78], [0xFFFD, 0x78]), ([0x1FFFF], [0xFFFD]),
        ([0xFFFD], [0xFFFD]), ([0x10FFFD], [0x10FFFD]), ([0x61], [0x61]),
    ])
    func `text that D-Bus does not allow is repaired before it is sent`(_ sent: [UInt32], _ received: [UInt32]) throws {
        let sent = Self.text(sent), received = Self.text(received)
        let bus = try PrivateBus(), service = try bus.connect(), client = try bus.connect()
        let tree = try ObjectTree(service)
        tree.export(Echo(), as: Echo.interface, at: .root)
        let reply = try bus.call(client, service.uniqueName, "/", "org.example.Echo", "Echo", .variant(.string(sent)))
        #expect(try reply.get() == [.variant(.string(received))])
    }

    private static func text(_ scalars: [UInt32]) -> String {
        String(String.UnicodeScalarView(scalars.compactMap(Unicode.Scalar.init)))
    }

    @Test func `octets that are not UTF-8 become text that D-Bus allows`() {
        let octets: [[UInt8]] = [
            [0xFF, 0xFE], [0xC3], [0x41, 0x00, 0x42], [0xEF, 0xBF, 0xBE], [0xF4, 0x90, 0x80, 0x80],
        ]
        for text in octets.map(BusText.repairing) { #expect(BusText.isValid(text), "\(text.unicodeScalars)") }
    }

    @Test func `a message with too many values is refused`() throws {
        let bus = try PrivateBus(), service = try bus.connect(), client = try bus.connect()
        let tree = try ObjectTree(service)
        tree.export(Echo(), as: Echo.interface, at: .root)
        let many = DBusValue.array(of: "q", Array(repeating: .uint16(0), count: Message.valueLimit))
        let reply = try bus.call(client, service.uniqueName, "/", "org.example.Echo", "Echo", .variant(many))
        #expect(throws: BusError.limitsExceeded("The message has more than \(Message.valueLimit) values")) {
            try reply.get()
        }
    }

    @Test(arguments: [
        ("/", true), ("/a", true), ("/a/b_1", true), ("", false), ("a", false), ("/a/", false), ("//a", false),
        ("/a-b", false), ("/ä", false),
    ])
    func `object paths are checked`(_ text: String, _ isValid: Bool) {
        #expect((ObjectPath(text) != nil) == isValid)
    }
}
