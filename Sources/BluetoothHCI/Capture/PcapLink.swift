import BluetoothBase

/// The link types of pcap and pcapng for HCI packets, as tcpdump.org registers them.
enum PcapLink: UInt16 {
    /// LINKTYPE_BLUETOOTH_HCI_H4: packets, H4 indicator first.
    case h4 = 187
    /// LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR: the same behind four octets that say which way a packet went.
    case h4WithDirection = 201
    /// LINKTYPE_BLUETOOTH_LINUX_MONITOR: the number of an adapter and an opcode of BlueZ's monitor, then the packet.
    case monitor = 254

    /// How the packets look to whoever reads them.
    var datalink: BTSnoop.Datalink { self == .monitor ? .monitor : .h4 }

    /// Makes a record of a captured packet, and writes the packet itself, H4 indicator first, to `packet`.
    ///
    /// - Parameters:
    ///   - data: what the capture has of the packet, with what the link type puts in front.
    ///   - originalLength: how long that was.
    ///   - direction: which way it went, where the capture says so elsewhere.
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
            // Data goes both ways, and nothing says which.
            direction: direction ?? (type == .event ? .received : .sent), type: type, originalLength: length,
            cumulativeDrops: drops, microsecondsSince1970: microsecondsSince1970)
    }
}
