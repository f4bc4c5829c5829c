import DBus

/// The interfaces that D-Bus itself defines.
enum StandardInterfaces {
    static let introspectable = "org.freedesktop.DBus.Introspectable"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"

    /// The interfaces that each object has in addition to its own.
    static let ofEveryObject = [properties, introspectable]
}

extension ObjectTree {
    /// Performs a call of a standard interface. Returns false if it is none.
    func performStandard(_ call: MethodCall, _ node: Node) throws(BusError) -> Bool {
        switch (call.interface, call.member, call.signature) {
        case (StandardInterfaces.introspectable, "Introspect", ""), (nil, "Introspect", ""):
            call.reply(.string(introspection(of: node)))
        case (StandardInterfaces.objectManager, "GetManagedObjects", "") where node.path == .root,
            (nil, "GetManagedObjects", "") where node.path == .root:
            call.reply { message throws(BusFailure) in try self.appendManagedObjects(to: message) }
        case (StandardInterfaces.properties, "Get", "ss"): try get(call, node)
        case (StandardInterfaces.properties, "GetAll", "s"):
            let export = try export(named: call.arguments[0], node)
            call.reply { message throws(BusFailure) in try export.appendProperties(to: message) }
        case (StandardInterfaces.properties, "Set", "ssv"): try set(call, node)
        default: return false
        }
        return true
    }

    private func export(named name: DBusValue, _ node: Node) throws(BusError) -> Export {
        let name = name.text ?? ""
        guard let export = node.export(name) else { throw .invalidArgs("No such interface '\(name)'") }
        return export
    }

    private func get(_ call: MethodCall, _ node: Node) throws(BusError) {
        let export = try export(named: call.arguments[0], node)
        let name = call.arguments[1].text ?? ""
        guard let append = export.appender(of: name) else { throw .invalidArgs("No such property '\(name)'") }
        call.reply(appending: append)
    }

    private func set(_ call: MethodCall, _ node: Node) throws(BusError) {
        let export = try export(named: call.arguments[0], node)
        guard case .variant(let value) = call.arguments[2] else { throw .invalidArgs("The value is no variant") }
        try export.write(value, to: call.arguments[1].text ?? "", call)
    }

    /// Appends all objects with their interfaces and properties. Objects precede the objects below them.
    private func appendManagedObjects(to message: Message) throws(BusFailure) {
        try message.open("a", "{oa{sa{sv}}}")
        var waiting: [ObjectPath] = [.root]
        while let path = waiting.popLast() {
            guard let node = nodes[path] else { continue }
            waiting += node.children.sorted { $0.description > $1.description }
            guard !node.exports.isEmpty else { continue }
            try message.open("e", "oa{sa{sv}}")
            try message.append(.objectPath(path))
            try Self.append(node.exports, isWhole: true, to: message)
            try message.close()
        }
        try message.close()
    }
}
