import BluetoothBase

/// Writes a capture of H4 packets in btsnoop format, which `btmon` and Wireshark read.
public enum BTSnoopWriter {
    /// Appends the header of a capture, once, before its records.
    public static func appendHeader(to writer: inout ByteWriter) {
        for index in BTSnoop.identification.indices { writer.append(BTSnoop.identification[index]) }
        writer.append(BTSnoop.version.byteSwapped)
        writer.append(BTSnoop.Datalink.h4.rawValue.byteSwapped)
    }

    /// Appends the record of one packet.
    ///
    /// - Parameters:
    ///   - packet: a whole packet, H4 indicator first.
    ///   - microsecondsSince1970: when it was sent or received, UTC.
    ///   - cumulativeDrops: how many packets the capture has lost so far.
    public static func appendRecord(
        _ packet: Span<UInt8>, _ direction: BTSnoop.Direction, microsecondsSince1970: Int64,
        cumulativeDrops: UInt32 = 0, to writer: inout ByteWriter
    ) {
        var flags = UInt32(direction.rawValue)
        if !packet.isEmpty, [HCIPacketType.command.rawValue, HCIPacketType.event.rawValue].contains(packet[0]) {
            flags |= 2
        }
        let length = UInt32(clamping: packet.count).byteSwapped
        writer.append(length)
        writer.append(length)
        writer.append(flags.byteSwapped)
        writer.append(cumulativeDrops.byteSwapped)
        writer.append((microsecondsSince1970 &+ BTSnoop.microsecondsAt1970).byteSwapped)
        writer.append(packet)
    }
}
