import BluetoothATT
import BluetoothBase

/// How the value of a characteristic is to be read: its Characteristic Presentation Format descriptor (Core 5.4, Vol 3, Part G,
/// 3.3.3.5).
public struct GATTPresentationFormat: Hashable, Sendable {
    /// The type of the value, from the Assigned Numbers, 2.4.1: 0x04 for an unsigned integer of 8 bits, say.
    public var format: UInt8
    /// The value stands for itself times ten to the power of this; for integers only.
    public var exponent: Int8
    /// The unit, from the Assigned Numbers, 3.5.
    public var unit: BluetoothUUID
    /// Whose numbers `description` has: 1 for the Bluetooth SIG.
    public var namespace: UInt8
    /// What the value describes, from the Assigned Numbers, 2.4.2; 0 if it is unknown.
    public var description: UInt16

    public init(
        format: UInt8, exponent: Int8 = 0, unit: BluetoothUUID = BluetoothUUID(0x2700), namespace: UInt8 = 1,
        description: UInt16 = 0
    ) {
        self.format = format
        self.exponent = exponent
        self.unit = unit
        self.namespace = namespace
        self.description = description
    }

    /// The value of a descriptor.
    ///
    /// - Throws: unless it has seven octets.
    public init(decoding value: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(value)
        format = try reader.readUInt8()
        exponent = try reader.readInt8()
        unit = BluetoothUUID(try reader.readUInt16())
        namespace = try reader.readUInt8()
        description = try reader.readUInt16()
        try reader.finish()
    }

    /// Appends the seven octets of the descriptor. A unit with a UUID of 128 bits has no number: it is 0 then.
    public func encode(into writer: inout ByteWriter) {
        writer.append(format)
        writer.append(exponent)
        writer.append(unit.uint16 ?? 0)
        writer.append(namespace)
        writer.append(description)
    }
}

/// The formats of the parts of a value, in their order: a Characteristic Aggregate Format descriptor (Core 5.4, Vol 3, Part G,
/// 3.3.3.6).
public struct GATTAggregateFormat: Hashable, Sendable {
    /// The handles of Characteristic Presentation Format descriptors.
    public var formats: [AttributeHandle]

    public init(formats: [AttributeHandle]) {
        self.formats = formats
    }

    /// The value of a descriptor.
    ///
    /// - Throws: unless it is a list of handles.
    public init(decoding value: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(value)
        formats = []
        while reader.remaining > 0 { formats.append(AttributeHandle(try reader.readUInt16())) }
    }

    /// Appends the value of the descriptor.
    public func encode(into writer: inout ByteWriter) {
        for format in formats { writer.append(format) }
    }
}

extension GATTPresentationFormat {
    fileprivate var encoded: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}

extension GATTAggregateFormat {
    fileprivate var encoded: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}

extension GATTDescriptorDefinition {
    /// A Characteristic Presentation Format.
    public static func presentationFormat(_ format: GATTPresentationFormat, handle: AttributeHandle? = nil) -> Self {
        .init(
            uuid: .characteristicPresentationFormat, value: .constant(format.encoded), handle: handle)
    }

    /// A Characteristic Aggregate Format.
    public static func aggregateFormat(_ format: GATTAggregateFormat, handle: AttributeHandle? = nil) -> Self {
        .init(
            uuid: .characteristicAggregateFormat, value: .constant(format.encoded), handle: handle)
    }
}
