import BluetoothBase

/// Writes a capture in btsnoop format, which `btmon` and Wireshark can read.
public enum BTSnoopWriter {
    /// Appends the header of a capture. Call this once, before you append records: with `appendMonitorRecord` for the
    /// datalink `.monitor`, otherwise with `appendRecord`.
    public static func appendHeader(_ datalink: BTSnoop.Datalink = .h4, to writer: inout ByteWriter) {
        for index in BTSnoop.identification.indices { writer.append(BTSnoop.identification[index]) }
        writer.append(BTSnoop.version.byteSwapped)
        writer.append(datalink.rawValue.byteSwapped)
    }

    /// Appends the record of one packet.
    ///
    /// - Parameters:
    ///   - packet: a complete packet, starting with its H4 indicator.
    ///   - microsecondsSince1970: the time at which it was sent or received, in UTC.
    ///   - cumulativeDrops: the number of packets that the capture has lost so far.
    public static func appendRecord(
        _ packet: Span<UInt8>, _ direction: BTSnoop.Direction, microsecondsSince1970: Int64,
        cumulativeDrops: UInt32 = 0, to writer: inout ByteWriter
    ) {
        var flags = UInt32(direction.rawValue)
        if !packet.isEmpty, [HCIPacketType.command.rawValue, HCIPacketType.event.rawValue].contains(packet[0]) {
            flags |= 2
        }
        append(packet, flags: flags, microsecondsSince1970, cumulativeDrops, to: &writer)
    }

    /// Appends the record of a packet from one of several adapters.
    ///
    /// - Parameters:
    ///   - packet: a complete packet, starting with its H4 indicator. A packet with an unknown indicator is not
    ///     recorded.
    ///   - adapter: the number `N` of the adapter `hciN`.
    ///   - microsecondsSince1970: the time at which it was sent or received, in UTC.
    public static func appendMonitorRecord(
        _ packet: Span<UInt8>, _ direction: BTSnoop.Direction, adapter: UInt16, microsecondsSince1970: Int64,
        to writer: inout ByteWriter
    ) {
        guard !packet.isEmpty, let type = HCIPacketType(rawValue: packet[0]) else { return }
        let opcode = UInt32(BTSnoop.MonitorOpcode(type, direction).rawValue)
        append(
            packet.extracting(droppingFirst: 1), flags: UInt32(adapter) << 16 | opcode, microsecondsSince1970, 0,
            to: &writer)
    }

    /// Appends a record from the kernel's monitor, which need not be a packet. A record without an opcode is ignored.
    ///
    /// - Parameter packet: the record's data. A packet starts with its H4 indicator.
    public static func appendMonitorRecord(
        _ record: BTSnoop.Record, _ packet: Span<UInt8>, to writer: inout ByteWriter
    ) {
        guard let opcode = record.monitorOpcode, record.type == nil || !packet.isEmpty else { return }
        append(
            packet.extracting(droppingFirst: record.type == nil ? 0 : 1),
            flags: UInt32(record.adapter ?? BTSnoop.noAdapter) << 16 | UInt32(opcode.rawValue),
            record.microsecondsSince1970, record.cumulativeDrops, to: &writer)
    }

    private static func append(
        _ packet: Span<UInt8>, flags: UInt32, _ microsecondsSince1970: Int64, _ cumulativeDrops: UInt32,
        to writer: inout ByteWriter
    ) {
        let length = UInt32(clamping: packet.count).byteSwapped
        writer.append(length)
        writer.append(length)
        writer.append(flags.byteSwapped)
        writer.append(cumulativeDrops.byteSwapped)
        writer.append((microsecondsSince1970 &+ BTSnoop.microsecondsAt1970).byteSwapped)
        writer.append(packet)
    }
}
