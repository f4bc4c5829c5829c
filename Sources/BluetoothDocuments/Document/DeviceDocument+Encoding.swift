import BluetoothATT
import BluetoothBase
import BluetoothGATT

extension DeviceDocument {
    /// The document as JSON, with a line break at the end. Characters that a terminal would not display are escaped.
    public var json: String { value.text() + "\n" }

    private var value: JSONValue {
        var object = JSONMembers()
        object.add("format", Self.format)
        object.add("version", .integer(Self.version))
        object.add("name", name)
        object.add("address", address.map { "\($0)" })
        if !isConnectable { object.add("connectable", .bool(false)) }
        object.add("addsGenericServices", addsGenericServices.map { .bool($0) })
        object.add("advertisement", advertisement?.json)
        object.add("scanResponse", scanResponse?.json)
        object.add("services", .array(services.map(\.json)))
        object.add("notifications", notifications.map(\.json))
        return object.value
    }
}

extension DeviceDocument.Service {
    fileprivate var json: JSONValue {
        var object = JSONMembers()
        object.add("uuid", "\(uuid)")
        if !isPrimary { object.add("type", DeviceDocument.kinds.word(for: isPrimary)) }
        object.add("handle", handle)
        object.add("endHandle", endHandle)
        object.add("includes", includes.map(\.json))
        object.add("characteristics", characteristics.map(\.json))
        return object.value
    }
}

extension DeviceDocument.Include {
    fileprivate var json: JSONValue {
        let service: JSONValue =
            switch target {
            case .handle(let handle): .string("\(handle)")
            case .uuid(let uuid): .string("\(uuid)")
            }
        guard let handle else { return service }
        var object = JSONMembers()
        object.add("service", service)
        object.add("handle", handle)
        return object.value
    }
}

extension DeviceDocument.Characteristic {
    fileprivate var json: JSONValue {
        var object = JSONMembers()
        object.add("uuid", "\(uuid)")
        object.add("handle", handle)
        object.add("valueHandle", valueHandle)
        let words = DeviceDocument.properties.filter { properties.contains($0.1) }.map { JSONValue.string($0.0) }
        object.add("properties", .array(words))
        object.add("permissions", permissions.json)
        object.add(value)
        if !addsDescriptors { object.add("addsDescriptors", .bool(false)) }
        object.add("descriptors", descriptors.map(\.json))
        return object.value
    }
}

extension DeviceDocument.Descriptor {
    fileprivate var json: JSONValue {
        var object = JSONMembers()
        object.add("uuid", "\(uuid)")
        object.add("handle", handle)
        object.add("permissions", permissions.json)
        object.add(value)
        return object.value
    }
}

extension DeviceDocument.Permissions {
    fileprivate var json: JSONValue? {
        var object = JSONMembers()
        object.add("read", DeviceDocument.requirements.word(for: read))
        object.add("write", DeviceDocument.requirements.word(for: write))
        object.add("subscribe", DeviceDocument.requirements.word(for: subscribe))
        object.add("keySize", keySize.map { .integer(Int64($0)) })
        object.add("readError", readError.map(Self.word))
        object.add("writeError", writeError.map(Self.word))
        return object.members.isEmpty ? nil : object.value
    }

    private static func word(_ code: ATTErrorCode) -> String {
        DeviceDocument.errors.word(for: code) ?? "0x" + hexadecimal(code.rawValue)
    }
}

extension DeviceDocument.Notification {
    fileprivate var json: JSONValue {
        var object = JSONMembers()
        object.add("at", time.json)
        if origin != .subscription { object.add("from", DeviceDocument.origins.word(for: origin)) }
        switch characteristic {
        case .handle(let handle): object.add("handle", handle)
        case .uuid(let uuid): object.add("uuid", "\(uuid)")
        }
        object.add(octets, isText: isText)
        object.add("indication", isIndication.map { .bool($0) })
        return object.value
    }
}

extension Duration {
    /// The duration in milliseconds, as an integer if it is one.
    fileprivate var json: JSONValue {
        let nanoseconds = nanoseconds
        guard !nanoseconds.isMultiple(of: 1_000_000) else { return .integer(nanoseconds / 1_000_000) }
        return .number(Double(nanoseconds) / 1_000_000)
    }
}

extension JSONMembers {
    fileprivate mutating func add(_ name: String, _ handle: AttributeHandle?) {
        add(name, handle.map { .string("\($0)") })
    }

    /// Adds a value, omitting members that have their default.
    fileprivate mutating func add(_ value: DeviceDocument.Value) {
        if !value.octets.isEmpty || value.maximumLength == nil { add(value.octets, isText: value.isText) }
        guard let maximum = value.maximumLength else { return add("fixedLength", .bool(true)) }
        if maximum != GATTAttributeValue.maximumLength { add("maximumLength", .integer(Int64(maximum))) }
    }

    fileprivate mutating func add(_ octets: [UInt8], isText: Bool) {
        // Octets that are not valid text are never written as text, because reading them back would change them.
        if isText, let text = String(validating: octets, as: UTF8.self) {
            add("text", text)
        } else {
            add("value", octets.hexadecimal())
        }
    }
}
