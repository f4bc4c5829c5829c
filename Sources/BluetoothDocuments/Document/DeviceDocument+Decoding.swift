import BluetoothATT
import BluetoothBase
import BluetoothGATT

extension DeviceDocument {
    /// The maximum length of a document in octets.
    public static let maximumSize = 1 << 24

    /// Decodes a document.
    ///
    /// - Parameter json: the text, in UTF-8.
    /// - Throws: the first error and its location.
    public init(json: [UInt8]) throws(DocumentError) {
        let root = DocumentReader(value: try JSONValue(parsing: json), path: "")
        let object = try root.object([
            "format", "version", "name", "address", "connectable", "advertisement", "scanResponse", "services",
            "notifications", "addsGenericServices",
        ])
        self.init()
        if let format = object["format"] { _ = try format.choice([(Self.format, true)]) }
        if let version = object["version"] {
            _ = try version.integer(1...Self.version, expected: "version \(Self.version), the only version")
        }
        name = try object["name"].map { name throws(DocumentError) in try name.string() }
        address = try object["address"].map { address throws(DocumentError) in
            let expected = "an address such as \"C0:11:22:33:44:55\", followed by \"/P\" if it is public"
            guard let value = DeviceAddress(try address.string(expected: expected)) else {
                throw address.failure(expected: expected)
            }
            return value
        }
        if let flag = object["connectable"] { isConnectable = try flag.flag() }
        addsGenericServices = try object["addsGenericServices"].map { flag throws(DocumentError) in try flag.flag() }
        advertisement = try object["advertisement"].map { part throws(DocumentError) in try Advertising(part) }
        scanResponse = try object["scanResponse"].map { part throws(DocumentError) in try Advertising(part) }
        let list = try object.required("services", expected: "a list of services").list()
        for service in list { services.append(try Service(service)) }
        notifications = try object.list("notifications", maximum: 1_000_000) { element throws(DocumentError) in
            try Notification(element)
        }
        // Reject a database that can't be served now rather than when it is served.
        _ = try layout()
    }
}

extension DeviceDocument {
    /// Decodes notifications from a separate file, which contains either a list or a document with a list.
    public static func notifications(json: [UInt8]) throws(DocumentError) -> [Notification] {
        let value = try JSONValue(parsing: json)
        guard case .array = value else { return try DeviceDocument(json: json).notifications }
        var notifications: [Notification] = []
        for element in try DocumentReader(value: value, path: "").list(maximum: 1_000_000) {
            notifications.append(try Notification(element))
        }
        return notifications
    }
}

extension DeviceDocument.Service {
    init(_ reader: DocumentReader) throws(DocumentError) {
        let object = try reader.object([
            "uuid", "type", "name", "handle", "endHandle", "includes", "characteristics",
        ])
        self.init(uuid: try object.required("uuid", expected: "the UUID of the service").uuid())
        if let type = object["type"] { isPrimary = try type.choice(DeviceDocument.kinds) }
        // The name is only for people who read the file.
        _ = try object["name"]?.string()
        handle = try object.handle("handle")
        endHandle = try object.handle("endHandle")
        includes = try object.list("includes") { element throws(DocumentError) in
            try DeviceDocument.Include(element)
        }
        characteristics = try object.list("characteristics") { element throws(DocumentError) in
            try DeviceDocument.Characteristic(element)
        }
    }
}

extension DeviceDocument.Include {
    /// Decodes either a service, or an object that also contains the handle of the declaration.
    init(_ reader: DocumentReader) throws(DocumentError) {
        guard case .object = reader.value else {
            self.init(try Self.target(reader))
            return
        }
        let object = try reader.object(["service", "handle"])
        let service = try object.required("service", expected: "the UUID or the handle of a service")
        self.init(try Self.target(service), handle: try object.handle("handle"))
    }

    private static func target(_ reader: DocumentReader) throws(DocumentError) -> Target {
        if case .string(let text) = reader.value, !text.hasPrefix("0x") {
            guard let uuid = BluetoothUUID(text) else {
                throw reader.failure(expected: "the UUID or the handle of a service")
            }
            return .uuid(uuid)
        }
        return .handle(try reader.handle())
    }
}

extension DeviceDocument.Characteristic {
    init(_ reader: DocumentReader) throws(DocumentError) {
        let object = try reader.object([
            "uuid", "name", "handle", "valueHandle", "properties", "permissions", "value", "text", "maximumLength",
            "fixedLength", "descriptors", "addsDescriptors",
        ])
        let uuid = try object.required("uuid", expected: "the UUID of the characteristic").uuid()
        var properties: GATTCharacteristicProperties = []
        let list = try object.required("properties", expected: "a list such as [\"read\", \"notify\"]").list(maximum: 8)
        for property in list { properties.insert(try property.choice(DeviceDocument.properties)) }
        self.init(uuid: uuid, properties: properties)
        _ = try object["name"]?.string()
        handle = try object.handle("handle")
        valueHandle = try object.handle("valueHandle")
        permissions = try DeviceDocument.Permissions(object["permissions"])
        value = try DeviceDocument.Value(object)
        descriptors = try object.list("descriptors") { element throws(DocumentError) in
            try DeviceDocument.Descriptor(element)
        }
        if let flag = object["addsDescriptors"] { addsDescriptors = try flag.flag() }
    }
}

extension DeviceDocument.Descriptor {
    init(_ reader: DocumentReader) throws(DocumentError) {
        let object = try reader.object([
            "uuid", "name", "handle", "permissions", "value", "text", "maximumLength", "fixedLength",
        ])
        self.init(uuid: try object.required("uuid", expected: "the UUID of the descriptor").uuid())
        _ = try object["name"]?.string()
        handle = try object.handle("handle")
        permissions = try DeviceDocument.Permissions(object["permissions"])
        value = try DeviceDocument.Value(object)
    }
}

extension DeviceDocument.Value {
    /// Decodes the value of a characteristic or a descriptor.
    init(_ object: ObjectReader) throws(DocumentError) {
        let longest = GATTAttributeValue.maximumLength
        self.init()
        var maximum = longest
        if let limit = object["maximumLength"] {
            maximum = Int(try limit.integer(0...Int64(longest), expected: "a number of octets from 0 to \(longest)"))
        }
        if let value = try object.octets(maximum: maximum) { (octets, isText) = value }
        maximumLength = maximum
        if let flag = object["fixedLength"], try flag.flag() {
            guard object["maximumLength"] == nil else { throw flag.failure(.contradicts(other: "maximumLength")) }
            maximumLength = nil
        }
    }
}

extension DeviceDocument.Permissions {
    init(_ reader: DocumentReader?) throws(DocumentError) {
        self.init()
        guard let reader else { return }
        let object = try reader.object(["read", "write", "subscribe", "keySize", "readError", "writeError"])
        read = try object.requirement("read")
        write = try object.requirement("write")
        subscribe = try object.requirement("subscribe")
        if let size = object["keySize"] {
            keySize = UInt8(try size.integer(7...16, expected: "a key size from 7 to 16 octets"))
        }
        readError = try object.error("readError", beside: "read")
        writeError = try object.error("writeError", beside: "write")
    }
}

extension DeviceDocument.Notification {
    init(_ reader: DocumentReader) throws(DocumentError) {
        let object = try reader.object(["at", "from", "handle", "uuid", "value", "text", "indication"])
        let characteristic: Characteristic
        if let handle = object["handle"] {
            guard object["uuid"] == nil else {
                throw DocumentError(object.place(of: "uuid"), .contradicts(other: "handle"))
            }
            characteristic = .handle(try handle.handle())
        } else {
            let uuid = try object.required(
                "uuid", expected: "the UUID of a characteristic, or its handle as \"handle\"")
            characteristic = .uuid(try uuid.uuid())
        }
        let time = try object.required("at", expected: "a time in milliseconds").milliseconds()
        self.init(characteristic, after: time, octets: [])
        if let origin = object["from"] { self.origin = try origin.choice(DeviceDocument.origins) }
        guard let value = try object.octets(maximum: GATTAttributeValue.maximumLength) else {
            throw DocumentError(
                object.place(of: "value"), .missing(expected: "octets in hexadecimal, or a text as \"text\""))
        }
        (octets, isText) = value
        isIndication = try object["indication"].map { flag throws(DocumentError) in try flag.flag() }
    }
}

extension ObjectReader {
    fileprivate func handle(_ name: String) throws(DocumentError) -> AttributeHandle? {
        try self[name].map { handle throws(DocumentError) in try handle.handle() }
    }

    fileprivate func requirement(_ name: String) throws(DocumentError) -> GATTPermissions.Requirement? {
        try self[name].map { word throws(DocumentError) in try word.choice(DeviceDocument.requirements) }
    }

    /// Decodes an error given by its name or its number.
    fileprivate func error(_ name: String, beside other: String) throws(DocumentError) -> ATTErrorCode? {
        guard let reader = self[name] else { return nil }
        guard self[other] == nil else { throw reader.failure(.contradicts(other: other)) }
        if case .string(let text) = reader.value, let known = DeviceDocument.errors.first(where: { $0.0 == text }) {
            return known.1
        }
        let expected = "an error such as \"insufficientAuthentication\", or its number from \"0x01\" to \"0xFF\""
        return ATTErrorCode(rawValue: UInt8(truncatingIfNeeded: try reader.integer(1...0xFF, expected: expected)))
    }
}
