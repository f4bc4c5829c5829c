import DBus

/// The objects on the bus.
///
/// Changes are announced together: all changes of an object since the last message are one signal for each kind. They
/// are announced before any other message is sent, and at the end of each turn, so clients see them in order.
package final class ObjectTree {
    final class Node {
        let path: ObjectPath
        var exports: [Export] = []
        var children: Set<ObjectPath> = []
        /// The changes to announce.
        var change = ObjectChange()

        init(_ path: ObjectPath) { self.path = path }

        func export(_ interface: String) -> Export? { exports.first { $0.name == interface } }
    }

    package let connection: BusConnection
    var nodes: [ObjectPath: Node] = [:]
    private var announcements = Announcements()
    private let buffer = SignalBuffer()
    private var isFlushing = false
    /// The calls of each client that wait for an answer.
    private var pendingCalls: [String: Int] = [:]
    /// The maximum number of calls of one client that may wait for an answer.
    package static let pendingCallLimit = 256
    /// Called when a message could not be sent.
    package var report: (BusFailure) -> Void = { _ in }

    /// Receives the calls of a connection.
    package init(_ connection: BusConnection) throws(BusFailure) {
        self.connection = connection
        nodes[.root] = Node(.root)
        try connection.receiveCalls { [unowned self] message in dispatch(message) }
    }

    // MARK: - Exporting

    /// Adds an interface to an object, and the object if it does not exist. Does nothing if the object has the
    /// interface already.
    package func export<Object: AnyObject>(_ object: Object, as interface: Interface<Object>, at path: ObjectPath) {
        let node = node(at: path)
        guard node.export(interface.name) == nil else { return }
        node.exports.append(Export(interface, object))
        announcements.expectChange(of: node)
        node.change.add(interface.name)
    }

    /// Removes an interface from an object, and the object with its last interface.
    package func remove(_ interface: String, at path: ObjectPath) {
        guard let node = nodes[path], let index = node.exports.firstIndex(where: { $0.name == interface }) else {
            return
        }
        node.exports.remove(at: index)
        announcements.expectChange(of: node)
        node.change.remove(interface, isLast: node.exports.isEmpty)
        prune(node)
    }

    /// Removes an object with all its interfaces.
    package func remove(_ path: ObjectPath) {
        guard let node = nodes[path] else { return }
        for export in node.exports.reversed() { remove(export.name, at: path) }
    }

    /// Whether an object exists.
    package func contains(_ path: ObjectPath) -> Bool { nodes[path]?.exports.isEmpty == false }

    /// Announces that a property has a new value, or none any more.
    package func changed(_ property: String, of interface: String, at path: ObjectPath) {
        changed(CollectionOfOne(property), of: interface, at: path)
    }

    /// Announces that properties have new values, or none any more.
    package func changed(_ properties: some Collection<String>, of interface: String, at path: ObjectPath) {
        guard let node = nodes[path], let declaration = node.export(interface)?.declaration else { return }
        announcements.expectChange(of: node)
        for name in properties {
            guard let index = declaration.indexOfProperty(name) else { continue }
            node.change.change(.init(interface: declaration, index: index))
        }
    }

    private func node(at path: ObjectPath) -> Node {
        if let node = nodes[path] { return node }
        let node = Node(path)
        nodes[path] = node
        if let parent = path.parent { self.node(at: parent).children.insert(path) }
        return node
    }

    private func prune(_ node: Node) {
        var node = node
        while node.exports.isEmpty, node.children.isEmpty, let above = node.path.parent, let parent = nodes[above] {
            nodes[node.path] = nil
            parent.children.remove(node.path)
            node = parent
        }
    }

    // MARK: - Announcing

    /// Announces all changes.
    package func flush() {
        guard !isFlushing else { return }
        isFlushing = true
        defer { isFlushing = false }
        while let (node, change) = announcements.takeFirst() {
            attempt { () throws(BusFailure) in try announce(change, of: node) }
        }
    }

    private func announce(_ change: ObjectChange, of node: Node) throws(BusFailure) {
        if !change.removed.isEmpty {
            var names = change.removed
            if change.isGone { names += StandardInterfaces.ofEveryObject }
            let signal = try connection.makeSignal(.root, StandardInterfaces.objectManager, "InterfacesRemoved")
            try signal.append([.objectPath(node.path), .strings(names)])
            try connection.send(signal)
        }
        if !change.added.isEmpty {
            let exports = node.exports.filter { change.added.contains($0.name) }
            let signal = try connection.makeSignal(.root, StandardInterfaces.objectManager, "InterfacesAdded")
            try signal.append(.objectPath(node.path))
            try Self.append(exports, isWhole: exports.count == node.exports.count, to: signal)
            try connection.send(signal)
        }
        for export in node.exports where !change.added.contains(export.name) {
            try announce(change.changed, of: export, at: node.path)
        }
    }

    /// Announces the changed properties of one interface.
    private func announce(
        _ properties: [ObjectChange.ChangedProperty], of export: Export, at path: ObjectPath
    ) throws(BusFailure) {
        guard properties.contains(where: { $0.interface === export.declaration }) else { return }
        buffer.begin(path, StandardInterfaces.properties, "PropertiesChanged", signature: "sa{sv}as")
        try Self.append(properties, of: export, to: buffer)
        if connection.send(buffer) { return }
        let signal = try connection.makeSignal(path, StandardInterfaces.properties, "PropertiesChanged")
        try Self.append(properties, of: export, to: signal)
        try connection.send(signal)
    }

    /// Appends the values of `PropertiesChanged`.
    private static func append(
        _ properties: [ObjectChange.ChangedProperty], of export: Export, to signal: any ValueWriter
    ) throws(BusFailure) {
        try signal.append(name: export.name)
        try signal.open("a", "{sv}")
        var invalidated: [String] = []
        for property in properties where property.interface === export.declaration {
            if try !export.appendEntry(at: property.index, to: signal) {
                invalidated.append(export.declaration.properties[property.index].name)
            }
        }
        try signal.close()
        try signal.open("a", "s")
        for name in invalidated { try signal.append(name: name) }
        try signal.close()
    }

    /// Appends interfaces with their properties, as `GetManagedObjects` and `InterfacesAdded` describe an object.
    ///
    /// - Parameter isWhole: whether these are all interfaces of the object.
    static func append(_ exports: [Export], isWhole: Bool, to message: Message) throws(BusFailure) {
        try message.open("a", "{sa{sv}}")
        if isWhole { try append(empty: StandardInterfaces.introspectable, to: message) }
        for export in exports {
            try message.open("e", "sa{sv}")
            try message.append(name: export.name)
            try export.appendProperties(to: message)
            try message.close()
        }
        if isWhole { try append(empty: StandardInterfaces.properties, to: message) }
        try message.close()
    }

    private static func append(empty interface: String, to message: Message) throws(BusFailure) {
        try message.open("e", "sa{sv}")
        try message.append(name: interface)
        try message.open("a", "{sv}")
        try message.close()
        try message.close()
    }

    /// Sends what the closure sends, and reports a failure instead of throwing it: one invalid message must not stop
    /// the others.
    func attempt(_ body: () throws(BusFailure) -> Void) {
        do throws(BusFailure) {
            try body()
        } catch {
            report(error)
        }
    }

    // MARK: - Calls

    private func dispatch(_ message: Message) {
        guard let sender = message.sender, let path = message.path, let member = message.member else { return }
        let arguments: [DBusValue]
        let count = pendingCalls[sender, default: 0]
        do throws(BusError) {
            guard count < Self.pendingCallLimit else {
                throw .limitsExceeded("\(count) calls of this client wait for an answer; wait for some of them")
            }
            arguments = try message.readAll()
        } catch {
            return attempt { () throws(BusFailure) in
                guard message.expectsReply else { return }
                try connection.send(try connection.makeError(error, to: message))
            }
        }
        pendingCalls[sender] = count + 1
        let call = MethodCall(
            message, sender: sender, path: path, member: member, arguments: arguments, answering: self)
        do throws(BusError) {
            try perform(call)
        } catch {
            call.fail(error)
        }
    }

    private func perform(_ call: MethodCall) throws(BusError) {
        guard let node = nodes[call.path] else {
            throw .unknownObject(call.member, signature: call.signature, interface: call.interface ?? "(null)")
        }
        if try performStandard(call, node) { return }
        for export in node.exports where call.interface == nil || call.interface == export.name {
            if try export.perform(call) { return }
        }
        throw .unknownMethod(call.member, signature: call.signature, interface: call.interface ?? "(null)")
    }
}

extension ObjectTree: MethodCall.Answering {
    package func answer(_ call: MethodCall, _ answer: MethodCall.Answer) {
        flush()
        guard call.message.expectsReply else { return }
        do throws(BusFailure) {
            try send(answer, to: call)
        } catch {
            report(error)
            // Without an answer, the caller would wait.
            attempt { () throws(BusFailure) in
                try send(.error(.limitsExceeded("The answer could not be sent: \(error)")), to: call)
            }
        }
    }

    private func send(_ answer: MethodCall.Answer, to call: MethodCall) throws(BusFailure) {
        switch answer {
        case .values(let values):
            let reply = try connection.makeReply(to: call.message)
            try reply.append(values)
            try connection.send(reply)
        case .appended(let append):
            let reply = try connection.makeReply(to: call.message)
            try append(reply)
            try connection.send(reply)
        case .error(let error): try connection.send(try connection.makeError(error, to: call.message))
        }
    }

    package func ended(_ call: MethodCall) {
        guard let count = pendingCalls[call.sender] else { return }
        pendingCalls[call.sender] = count > 1 ? count - 1 : nil
    }
}
