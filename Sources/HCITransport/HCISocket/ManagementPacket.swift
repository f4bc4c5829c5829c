import BluetoothBase

/// A packet of the kernel's Bluetooth management interface. Its header contains a code, an adapter index and the length
/// of the parameters, two octets each, least significant first.
struct ManagementPacket {
    /// The packet codes used here. Sockets that have requested the extended list receive `extendedIndexAdded` instead
    /// of the other two index events.
    enum Code {
        static let commandComplete: UInt16 = 0x0001
        static let indexAdded: UInt16 = 0x0004
        static let unconfiguredIndexAdded: UInt16 = 0x001D
        static let extendedIndexAdded: UInt16 = 0x0020
    }

    var code: UInt16
    var index: UInt16
    var parameters: [UInt8]

    /// Returns nil if the bytes are not a management packet.
    init?(decoding bytes: Span<UInt8>) {
        var reader = ByteReader(bytes)
        do throws(DecodingFailure) {
            code = try reader.readUInt16()
            index = try reader.readUInt16()
            let count = Int(try reader.readUInt16())
            guard count == bytes.count - 6 else { return nil }
            parameters = (6..<bytes.count).map { bytes[$0] }
        } catch {
            return nil
        }
    }
}
