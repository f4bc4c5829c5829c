import BluetoothBase

/// The link types of pcap and pcapng for HCI packets, as registered by tcpdump.org.
enum PcapLink: UInt16 {
    /// LINKTYPE_BLUETOOTH_HCI_H4: packets that start with their H4 indicator.
    case h4 = 187
    /// LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR: the same, preceded by four octets with the direction of the packet.
    case h4WithDirection = 201
    /// LINKTYPE_BLUETOOTH_LINUX_MONITOR: an adapter number and an opcode of BlueZ's monitor, followed by the packet.
    case monitor = 254

    /// The format in which the packets are returned to the caller.
    var datalink: BTSnoop.Datalink { self == .monitor ? .monitor : .h4 }

    /// Creates the record of a captured packet, and writes the packet, starting with its H4 indicator, to `packet`.
    ///
    /// - Parameters:
    ///   - data: the captured data: the packet, possibly truncated, with the prefix of the link type.
    ///   - originalLength: the original length of the data.
    ///   - direction: the packet's direction, if the capture contains it elsewhere.
    func record(
        _ data: Span<UInt8>, originalLength: Int, direction: BTSnoop.Direction?, microsecondsSince1970: Int64,
        drops: UInt32 = 0, into packet: inout ByteWriter
    ) throws(DecodingFailure) -> BTSnoop.Record {
        var reader = ByteReader(data)
        packet.removeAll()
        if self == .monitor {
            let adapter = try reader.readUInt16().byteSwapped
            let opcode = BTSnoop.MonitorOpcode(rawValue: try reader.readUInt16().byteSwapped)
            var record = BTSnoop.Record(
                monitorOpcode: opcode, adapter: adapter, dataLength: originalLength - reader.offset,
                microsecondsSince1970: microsecondsSince1970)
            record.cumulativeDrops = drops
            if let type = record.type { packet.append(type.rawValue) }
            packet.append(try reader.readBytes(reader.remaining))
            return record
        }
        var direction = direction
        if self == .h4WithDirection {
            direction = try reader.readUInt32().byteSwapped & 1 == 0 ? .sent : .received
        }
        let length = originalLength - reader.offset
        packet.append(try reader.readBytes(reader.remaining))
        let type = packet.bytes.first.flatMap(HCIPacketType.init(rawValue:))
        return BTSnoop.Record(
            // Without a recorded direction, that of data is unknown, since data is sent in both directions.
            direction: direction ?? (type == .event ? .received : .sent), type: type, originalLength: length,
            cumulativeDrops: drops, microsecondsSince1970: microsecondsSince1970)
    }
}
