import DBus

/// One object's implementation of an interface.
struct Export {
    let declaration: InterfaceDeclaration
    /// Always of the type that the interface was declared for.
    private let object: AnyObject

    init<Object: AnyObject>(_ interface: Interface<Object>, _ object: Object) {
        declaration = interface.declaration
        self.object = object
    }

    var name: String { declaration.name }

    /// The properties that the object has now.
    var presentProperties: [PropertyDeclaration] { declaration.properties.filter { $0.isPresent(object) } }

    // MARK: - Properties

    /// Appends all properties that the object has now, as `a{sv}`.
    func appendProperties(to message: any ValueWriter) throws(BusFailure) {
        try message.open("a", "{sv}")
        for index in declaration.properties.indices { _ = try appendEntry(at: index, to: message) }
        try message.close()
    }

    /// Appends a property as an entry of `a{sv}`. Returns false, and appends nothing, if the object does not have it
    /// now.
    func appendEntry(at index: Int, to message: any ValueWriter) throws(BusFailure) -> Bool {
        switch declaration.properties[index].content {
        case .value(let read):
            guard let value = read(object) else { return false }
            try openEntry(index, in: message)
            try message.append(value)
        case .appended(let isPresent, let append):
            guard isPresent(object) else { return false }
            try openEntry(index, in: message)
            try append(object, message)
        }
        try message.close()
        try message.close()
        return true
    }

    private func openEntry(_ index: Int, in message: any ValueWriter) throws(BusFailure) {
        try message.open("e", "sv")
        try message.append(name: declaration.properties[index].name)
        try message.open("v", declaration.properties[index].signature)
    }

    /// A closure that appends the current value of a property, as a variant; nil if the object does not have it now.
    func appender(of name: String) -> ((Message) throws(BusFailure) -> Void)? {
        guard let property = declaration.properties.first(where: { $0.name == name }) else { return nil }
        let object = object
        switch property.content {
        case .value(let read):
            guard let value = read(object) else { return nil }
            return { message throws(BusFailure) in try message.append(.variant(value)) }
        case .appended(let isPresent, let append):
            guard isPresent(object) else { return nil }
            return { message throws(BusFailure) in
                try message.open("v", property.signature)
                try append(object, message)
                try message.close()
            }
        }
    }

    func write(_ value: DBusValue, to name: String, _ call: MethodCall) throws(BusError) {
        guard let index = declaration.indexOfProperty(name) else { throw .invalidArgs("No such property '\(name)'") }
        let property = declaration.properties[index]
        guard let write = property.write else { throw .readOnly(name) }
        guard value.signature == property.signature else {
            throw .invalidSignature("Invalid signature for '\(name)'")
        }
        try write(object, value, call)
    }

    // MARK: - Methods

    /// Returns false if there is no such method with the call's signature.
    func perform(_ call: MethodCall) throws(BusError) -> Bool {
        guard
            let method = declaration.methods.first(where: {
                $0.name == call.member && $0.inputSignature == call.signature
            })
        else { return false }
        try method.perform(object, call)
        return true
    }
}
