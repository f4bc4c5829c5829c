import BluetoothBase

/// Unencrypted sensor data in the open format BTHome, version 2: https://bthome.io/format.
public struct BTHome: AdvertisedValue {
    /// The name of the format: `bthome`.
    public static let formatName = "bthome"
    /// Service data with the 16-bit UUID 0xFCD2.
    public static let container = AdvertisedContainer.serviceData(service)

    /// The UUID of the service data.
    public static let service = BluetoothUUID(0xFCD2 as UInt16)

    /// Whether the device, for example a button, sends data only when an event occurs. The silence of such a device
    /// does not mean that it is absent.
    public var isTriggerBased: Bool
    /// The measurements and events. A device may send several of one kind.
    public var objects: [BTHomeObject]

    /// Creates the data of a device from its measurements and events.
    public init(_ objects: [BTHomeObject], isTriggerBased: Bool = false) {
        self.objects = objects
        self.isTriggerBased = isTriggerBased
    }

    /// Decodes measurements up to the first one of an unknown kind, whose length is also unknown.
    ///
    /// - Throws: `.invalidValue` if the data has another version or is encrypted. Use `EncryptedBTHome` for encrypted
    ///   data.
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

    /// Decodes decrypted measurements.
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

    /// Appends all measurements. In the encrypted form, this part is encrypted.
    func encodeObjects(into writer: inout ByteWriter) {
        for object in objects {
            writer.append(object.identifier)
            let layout = object.property.layout
            if layout.length == nil { writer.append(layout.octet(before: object.data.count)) }
            writer.append(object.data)
        }
    }

    /// Appends the information octet of version 2, then the measurements and events in the order of `objects`.
    public func encode(into writer: inout ByteWriter) {
        writer.append((isTriggerBased ? [.version2, .triggerBased] : BTHomeInformation.version2).rawValue)
        encodeObjects(into: &writer)
    }

    /// The measurements by name. If several have the same name, a number is appended to all but the first, for example
    /// `temperature_2`.
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
