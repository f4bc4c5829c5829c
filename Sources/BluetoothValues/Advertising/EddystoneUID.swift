import BluetoothBase

/// The common parts of Google's Eddystone frames: the service, and a frame type in the first octet (Eddystone Protocol
/// Specification).
enum Eddystone {
    static let service = BluetoothUUID(0xFEAA as UInt16)

    /// The frame types.
    enum Frame: UInt8 {
        case uid = 0x00
        case url = 0x10
        case tlm = 0x20
    }
}

extension ByteReader {
    /// Reads the type of an Eddystone frame of at least `length` octets. Throws if it is another type.
    @_lifetime(self: copy self)
    mutating func read(_ frame: Eddystone.Frame, length: Int) throws(DecodingFailure) {
        try require(length)
        guard try readUInt8() == frame.rawValue else { throw DecodingFailure(.invalidValue, at: 0) }
    }
}

/// Eddystone-UID: the identifier of a beacon (Eddystone Protocol Specification, Eddystone-UID).
public struct EddystoneUID: AdvertisedValue {
    /// The name of the format: `eddystone-uid`.
    public static let formatName = "eddystone-uid"
    /// Service data with Eddystone's 16-bit UUID 0xFEAA.
    public static let container = AdvertisedContainer.serviceData(Eddystone.service)

    /// The lengths of a namespace and an instance in octets.
    public static let namespaceLength = 10, instanceLength = 6

    /// The signal strength at a distance of 0 m in dBm, which is 41 dB more than the strength measured at 1 m.
    public var txPower: Int8
    /// The namespace, 10 octets, which identifies a group of beacons.
    public let namespace: [UInt8]
    /// The instance, 6 octets, which identifies the beacon in its namespace.
    public let instance: [UInt8]

    /// Creates a beacon ID. Returns nil unless the namespace has 10 octets and the instance has 6.
    public init?(namespace: some Collection<UInt8>, instance: some Collection<UInt8>, txPower: Int8) {
        guard namespace.count == Self.namespaceLength, instance.count == Self.instanceLength else { return nil }
        self.txPower = txPower
        self.namespace = Array(namespace)
        self.instance = Array(instance)
    }

    /// Decodes a frame. The two reserved octets at the end may be missing, because some beacons omit them.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.read(.uid, length: 18)
        txPower = try reader.readInt8()
        namespace = Array(try reader.readBytes(Self.namespaceLength))
        instance = Array(try reader.readBytes(Self.instanceLength))
        if reader.remaining == 2 { _ = try reader.readUInt16() }
        try reader.finish()
    }

    /// Appends the frame, including the two reserved octets.
    public func encode(into writer: inout ByteWriter) {
        writer.append(Eddystone.Frame.uid.rawValue)
        writer.append(txPower)
        writer.append(namespace)
        writer.append(instance)
        writer.append(0 as UInt16)
    }

    /// The namespace and the instance as hexadecimal digits, and the signal strength at 0 m.
    public var fields: [AdvertisedField] {
        [
            AdvertisedField("namespace", .text(namespace.hexadecimal(separator: ""))),
            AdvertisedField("instance", .text(instance.hexadecimal(separator: ""))),
            AdvertisedField("tx_power_at_0_m", txPower, unit: "dBm"),
        ]
    }
}
