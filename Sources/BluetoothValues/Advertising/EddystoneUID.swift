import BluetoothBase

/// What Google's Eddystone frames have in common: the service, and a type in the first octet (Eddystone Protocol
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
    /// Reads the type of an Eddystone frame of at least `length` octets, and throws if it is another.
    @_lifetime(self: copy self)
    mutating func read(_ frame: Eddystone.Frame, length: Int) throws(DecodingFailure) {
        try require(length)
        guard try readUInt8() == frame.rawValue else { throw DecodingFailure(.invalidValue, at: 0) }
    }
}

/// Eddystone-UID: which beacon this is (Eddystone Protocol Specification, Eddystone-UID).
public struct EddystoneUID: AdvertisedValue {
    public static let formatName = "eddystone-uid"
    public static let container = AdvertisedContainer.serviceData(Eddystone.service)

    /// How many octets a namespace and an instance have.
    public static let namespaceLength = 10, instanceLength = 6

    /// The signal strength at a distance of 0 m, in dBm: what is measured at one metre, and 41 dB more.
    public var txPower: Int8
    /// Whose beacons these are: 10 octets.
    public let namespace: [UInt8]
    /// Which of them: 6 octets.
    public let instance: [UInt8]

    /// Nil if the namespace has not 10 octets or the instance not 6.
    public init?(namespace: [UInt8], instance: [UInt8], txPower: Int8) {
        guard namespace.count == Self.namespaceLength, instance.count == Self.instanceLength else { return nil }
        self.txPower = txPower
        self.namespace = namespace
        self.instance = instance
    }

    /// Takes frames without the two reserved octets at the end, too, which some beacons leave out.
    public init(decoding bytes: Span<UInt8>) throws(DecodingFailure) {
        var reader = ByteReader(bytes)
        try reader.read(.uid, length: 18)
        txPower = try reader.readInt8()
        namespace = Array(try reader.readBytes(Self.namespaceLength))
        instance = Array(try reader.readBytes(Self.instanceLength))
        if reader.remaining == 2 { _ = try reader.readUInt16() }
        try reader.finish()
    }

    public func encode(into writer: inout ByteWriter) {
        writer.append(Eddystone.Frame.uid.rawValue)
        writer.append(txPower)
        writer.append(namespace)
        writer.append(instance)
        writer.append(0 as UInt16)
    }

    public var fields: [AdvertisedField] {
        [
            AdvertisedField("namespace", .text(namespace.hexadecimal(separator: ""))),
            AdvertisedField("instance", .text(instance.hexadecimal(separator: ""))),
            AdvertisedField("tx_power_at_0_m", txPower, unit: "dBm"),
        ]
    }
}
