import BluetoothATT
import BluetoothBase

/// How to interpret the value of a characteristic: its Characteristic Presentation Format descriptor (Core 5.4, Vol 3,
/// Part G, 3.3.3.5).
public struct GATTPresentationFormat: Hashable, Sendable {
    /// The type of the value, from the Assigned Numbers, 2.4.1. For example, 0x04 is an unsigned 8-bit integer.
    public var format: UInt8
    /// The power of ten by which the value is multiplied; for integers only.
    public var exponent: Int8
    /// The unit, from the Assigned Numbers, 3.5.
    public var unit: BluetoothUUID
    /// The organization that assigns the values of `description`: 1 for the Bluetooth SIG.
    public var namespace: UInt8
    /// What the value describes, from the Assigned Numbers, 2.4.2; 0 if unknown.
    public var description: UInt16

    /// Creates a format. By default the value has no unit, and its description is unknown.
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

    /// Decodes the value of a descriptor.
    ///
    /// - Throws: `DecodingFailure` unless the value has seven octets.
    public init(decoding value: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(value)
        format = try reader.readUInt8()
        exponent = try reader.readInt8()
        unit = BluetoothUUID(try reader.readUInt16())
        namespace = try reader.readUInt8()
        description = try reader.readUInt16()
        try reader.finish()
    }

    /// Appends the seven octets of the descriptor. A unit without a 16-bit UUID cannot be encoded and is written as 0.
    public func encode(into writer: inout ByteWriter) {
        writer.append(format)
        writer.append(exponent)
        writer.append(unit.uint16 ?? 0)
        writer.append(namespace)
        writer.append(description)
    }
}

/// The formats of the parts of a value, in order: a Characteristic Aggregate Format descriptor (Core 5.4, Vol 3, Part
/// G, 3.3.3.6).
public struct GATTAggregateFormat: Hashable, Sendable {
    /// The handles of Characteristic Presentation Format descriptors.
    public var formats: [AttributeHandle]

    /// Creates an aggregate of the presentation formats at these handles, in the order of the parts of the value.
    public init(formats: [AttributeHandle]) {
        self.formats = formats
    }

    /// Decodes the value of a descriptor.
    ///
    /// - Throws: `DecodingFailure` unless the value is a list of handles.
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
