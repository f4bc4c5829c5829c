import BluetoothBase

/// What sensors send in the open format BTHome, version 2, unencrypted: https://bthome.io/format.
public struct BTHome: AdvertisedValue {
    public static let formatName = "bthome"
    public static let container = AdvertisedContainer.serviceData(service)

    /// The service that the data is of.
    public static let service = BluetoothUUID(0xFCD2 as UInt16)

    /// Whether the device sends only when something happens, a button for example: silence is no sign of its absence.
    public var isTriggerBased: Bool
    /// The measurements and events. A device may have several of one kind.
    public var objects: [BTHomeObject]

    public init(_ objects: [BTHomeObject], isTriggerBased: Bool = false) {
        self.objects = objects
        self.isTriggerBased = isTriggerBased
    }

    /// Reads measurements up to the first whose kind is unknown: its length is, too.
    ///
    /// - Throws: `.invalidValue` if it is of another version or encrypted, which `EncryptedBTHome` is for.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        let information = BTHomeInformation(rawValue: try reader.readUInt8())
        guard information.isKnownVersion, !information.contains(.encrypted) else {
            throw DecodingFailure(.invalidValue, at: 0)
        }
        isTriggerBased = information.contains(.triggerBased)
        objects = []
        try readObjects(&reader)
    }

    /// The measurements that were decrypted.
    init(decrypted bytes: Span<UInt8>, isTriggerBased: Bool) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        self.isTriggerBased = isTriggerBased
        objects = []
        try readObjects(&reader)
    }

    private mutating func readObjects(_ reader: inout ByteReader) throws(DecodingFailure) {
        while reader.remaining > 0 {
            guard let property = BTHomeProperty[try reader.readUInt8()] else { return }
            let layout = property.layout
            let length = if let octets = layout.length { octets } else { layout.length(after: try reader.readUInt8()) }
            objects.append(BTHomeObject(property, Array(try reader.readBytes(length))))
        }
    }

    /// What is encrypted where something is: the measurements one after the other.
    func encodeObjects(into writer: inout ByteWriter) {
        for object in objects {
            writer.append(object.identifier)
            let layout = object.property.layout
            if layout.length == nil { writer.append(layout.octet(before: object.data.count)) }
            writer.append(object.data)
        }
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append((isTriggerBased ? [.version2, .triggerBased] : BTHomeInformation.version2).rawValue)
        encodeObjects(into: &writer)
    }

    /// The measurements by name. Of several with one name, those after the first have a number: `temperature_2`.
    public var fields: [AdvertisedField] {
        var counts: [String: Int] = [:]
        return objects.map { object in
            var field = object.field
            let count = counts[field.name, default: 0] + 1
            counts[field.name] = count
            if count > 1 { field.name += "_\(count)" }
            return field
        }
    }
}

/// The first octet of the service data.
struct BTHomeInformation: OptionSet {
    let rawValue: UInt8

    static let encrypted = Self(rawValue: 0x01)
    static let triggerBased = Self(rawValue: 0x04)
    /// The version, in the upper three bits.
    static let version2 = Self(rawValue: 0x40)

    var isKnownVersion: Bool { rawValue & 0xE0 == Self.version2.rawValue }
}
