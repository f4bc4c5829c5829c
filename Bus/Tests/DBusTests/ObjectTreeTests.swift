import BusObjects
import DBus
import Foundation
import Testing

private final class Lamp {
    var level: UInt8 = 1
    var label: String?
    var color: [UInt8]?
    /// Calls that wait for an answer.
    var held: [MethodCall] = []

    static let interface = Interface<Lamp>(
        "org.example.Lamp",
        methods: [
            Method("Toggle", [Argument("force", "b")], returns: [Argument("level", "y")]) { lamp, call in
                call.reply(.byte(lamp.level))
            },
            Method("Refuse") { _, _ throws(BusError) in throw BusError(name: "org.example.Error.No", message: "no") },
            Method("Hold") { lamp, call in lamp.held.append(call) },
            Method("Forget") { _, _ in },
        ],
        properties: [
            Property("Level", "y", read: { .byte($0.level) }) { lamp, value, call in
                lamp.level = UInt8(value.integer ?? 0)
                call.reply()
            },
            Property("Label", "s", read: { $0.label.map(DBusValue.string) }),
            Property("Color", "ay", isPresent: { $0.color != nil }) { lamp, message throws(BusFailure) in
                try message.append(octets: lamp.color ?? [])
            },
        ])
}

@Suite struct ObjectTreeTests {
    let bus: PrivateBus
    let service: BusConnection
    let client: BusConnection
    let tree: ObjectTree
    private let lamp = Lamp()
    let path = ObjectPath.root.appending("org").appending("lamp")

    init() throws {
        bus = try PrivateBus()
        service = try bus.connect()
        client = try bus.connect()
        tree = try ObjectTree(service)
    }

    private func call(
        _ interface: String, _ member: String, at path: String = "/org/lamp", _ values: DBusValue...
    ) throws -> Result<[DBusValue], BusError> {
        var result: Result<[DBusValue], BusError>?
        let pending = client.call(
            service.uniqueName, ObjectPath(path) ?? .root, interface, member, values, timeout: .seconds(15)
        ) { (reply: Result<[DBusValue], BusError>) in result = reply }
        try bus.run { result != nil }
        withExtendedLifetime(pending) {}
        return result ?? .failure(.noReply)
    }

    private static let properties = "org.freedesktop.DBus.Properties"

    @Test func `properties are read and written`() throws {
        tree.export(lamp, as: Lamp.interface, at: path)
        let level = try call(Self.properties, "Get", .string("org.example.Lamp"), .string("Level"))
        #expect(try level.get() == [.variant(.byte(1))])
        let all = try call(Self.properties, "GetAll", .string("org.example.Lamp"))
        #expect(try all.get() == [.variants([("Level", .byte(1))])])
        _ = try call(
            Self.properties, "Set", .string("org.example.Lamp"), .string("Level"), .variant(.byte(9))
        ).get()
        #expect(lamp.level == 9)
    }

    @Test func `a property that goes directly into messages is read like others`() throws {
        tree.export(lamp, as: Lamp.interface, at: path)
        lamp.color = [1, 2]
        let color = try call(Self.properties, "Get", .string("org.example.Lamp"), .string("Color"))
        #expect(try color.get() == [.variant(.bytes([1, 2]))])
        let all = try call(Self.properties, "GetAll", .string("org.example.Lamp"))
        #expect(try all.get() == [.variants([("Level", .byte(1)), ("Color", .bytes([1, 2]))])])
        let objects = try call("org.freedesktop.DBus.ObjectManager", "GetManagedObjects", at: "/").get()
        #expect(objects[0].entries?[0].value["org.example.Lamp"]?["Color"] == .bytes([1, 2]))
    }

    @Test func `changes of properties are announced with values and names`() throws {
        tree.export(lamp, as: Lamp.interface, at: path)
        tree.flush()
        var signals: [[DBusValue]] = []
        let rule = "type='signal',sender='\(service.uniqueName)',member='PropertiesChanged'"
        let match = try client.match(rule) { message in
            signals.append((try? message.readAll()) ?? [])
        }
        _ = try call("org.freedesktop.DBus.Peer", "Ping", at: "/")
        lamp.color = [3]
        tree.changed(["Label", "Color", "Level"], of: "org.example.Lamp", at: path)
        tree.flush()
        try bus.run { !signals.isEmpty }
        let changed = DBusValue.variants([("Color", .bytes([3])), ("Level", .byte(1))])
        #expect(signals == [[.string("org.example.Lamp"), changed, .strings(["Label"])]])
        withExtendedLifetime(match) {}
    }

    @Test func `wrong calls are answered with the error that names the problem`() throws {
        tree.export(lamp, as: Lamp.interface, at: path)
        let errors = [
            try call(Self.properties, "Get", .string("org.example.None"), .string("Level")),
            try call(Self.properties, "Get", .string("org.example.Lamp"), .string("Label")),
            try call(Self.properties, "Set", .string("org.example.Lamp"), .string("Label"), .variant(.string(""))),
            try call(Self.properties, "Set", .string("org.example.Lamp"), .string("Level"), .variant(.string(""))),
            try call("org.example.Lamp", "Toggle"), try call("org.example.Lamp", "Refuse"),
            try call("org.example.Lamp", "Toggle", at: "/org/other", .boolean(true)),
            try call("org.example.Lamp", "Forget"),
        ].map { result -> String in
            switch result {
            case .success(let values): "\(values)"
            case .failure(let error): error.name
            }
        }
        let standard = "org.freedesktop.DBus.Error."
        #expect(
            errors == [
                standard + "InvalidArgs", standard + "InvalidArgs", standard + "PropertyReadOnly",
                standard + "InvalidSignature", standard + "UnknownMethod", "org.example.Error.No",
                standard + "UnknownObject", standard + "NoReply",
            ])
    }

    @Test func `signals precede the reply of the call that caused them, one for each object`() throws {
        var log: [String] = []
        let match = try client.match("type='signal',sender='\(service.uniqueName)'") { message in
            let values = (try? message.readAll()) ?? []
            log.append("\(message.member ?? "") \(values.first.map { "\($0)" } ?? "")")
        }
        _ = try call("org.freedesktop.DBus.Peer", "Ping", at: "/")
        tree.export(lamp, as: Lamp.interface, at: path)
        lamp.label = "x"
        tree.changed("Label", of: "org.example.Lamp", at: path)
        tree.flush()
        lamp.label = nil
        tree.changed("Label", of: "org.example.Lamp", at: path)
        tree.changed("Level", of: "org.example.Lamp", at: path)
        tree.changed("Level", of: "org.example.Lamp", at: path)
        tree.flush()
        tree.remove(path)
        // Nobody hears of an object that is removed at once.
        tree.export(lamp, as: Lamp.interface, at: path)
        tree.remove(path)
        _ = try call("org.freedesktop.DBus.ObjectManager", "GetManagedObjects", at: "/").get()
        #expect(log.map { $0.prefix { $0 != " " } } == ["InterfacesAdded", "PropertiesChanged", "InterfacesRemoved"])
        withExtendedLifetime(match) {}
    }

    @Test func `all objects are listed, each after the one above it`() throws {
        tree.export(lamp, as: Lamp.interface, at: path.appending("b"))
        tree.export(lamp, as: Lamp.interface, at: path)
        tree.export(lamp, as: Lamp.interface, at: path.appending("a").appending("c"))
        let reply = try call("org.freedesktop.DBus.ObjectManager", "GetManagedObjects", at: "/").get()
        let paths = reply[0].entries?.compactMap { $0.key.path?.description }
        #expect(paths == ["/org/lamp", "/org/lamp/a/c", "/org/lamp/b"])
        let interfaces = reply[0].entries?[0].value.entries?.compactMap(\.key.text)
        #expect(
            interfaces == [
                "org.freedesktop.DBus.Introspectable", "org.example.Lamp", "org.freedesktop.DBus.Properties",
            ])
    }

    @Test func `the description lists the methods, the present properties and the objects below`() throws {
        tree.export(lamp, as: Lamp.interface, at: path)
        tree.export(lamp, as: Lamp.interface, at: path.appending("below"))
        let xml = try call("org.freedesktop.DBus.Introspectable", "Introspect").get()[0].text ?? ""
        for part in [
            "<interface name=\"org.example.Lamp\">", "<arg name=\"force\" type=\"b\" direction=\"in\"/>",
            "<property name=\"Level\" type=\"y\" access=\"readwrite\"/>", "<node name=\"below\"/>",
        ] {
            #expect(xml.contains(part), "\(part)")
        }
        #expect(!xml.contains("Label"))
    }

    @Test func `a client with too many unanswered calls is refused, and others are not`() throws {
        tree.export(lamp, as: Lamp.interface, at: path)
        // As messages, because a connection of this package limits its calls itself.
        for _ in 0..<ObjectTree.pendingCallLimit {
            try client.send(try client.makeCall(to: service.uniqueName, path, "org.example.Lamp", "Hold"))
        }
        try bus.run { lamp.held.count == ObjectTree.pendingCallLimit }
        let refused = try call("org.example.Lamp", "Hold")
        #expect { try refused.get() } throws: { ($0 as? BusError)?.name.hasSuffix("LimitsExceeded") == true }
        #expect(lamp.held.count == ObjectTree.pendingCallLimit)
        let other = try bus.connect()
        let reply = try bus.call(
            other, service.uniqueName, "/org/lamp", "org.example.Lamp", "Toggle", .boolean(true))
        #expect(try reply.get() == [.byte(1)])
        // Answered calls make room again.
        lamp.held.removeAll()
        #expect(try call("org.example.Lamp", "Toggle", .boolean(true)).get() == [.byte(1)])
    }
}
