import BluetoothBase

/// A packet of the kernel's Bluetooth management: a code, an adapter's index, and the length of what follows, each in
/// two octets, least significant first.
struct ManagementPacket {
    /// Packets about adapters that appear or disappear. Sockets that have requested the extended list receive the
    /// extended kind instead of the others.
    enum Code {
        static let commandComplete: UInt16 = 0x0001
        static let indexAdded: UInt16 = 0x0004
        static let unconfiguredIndexAdded: UInt16 = 0x001D
        static let extendedIndexAdded: UInt16 = 0x0020
    }

    var code: UInt16
    var index: UInt16
    var parameters: [UInt8]

    /// Nil if the bytes are not such a packet.
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
