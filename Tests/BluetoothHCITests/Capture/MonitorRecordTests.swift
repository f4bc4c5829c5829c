import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Captures from BlueZ's monitor")
struct MonitorRecordTests {
    /// A record without time or drops, as `btmon -w` lays it down.
    private func record(_ flags: String, _ data: String) -> [UInt8] {
        let length = hexadecimal(bytes(data).count, digits: 8)
        return bytes("\(length) \(length) \(flags) 00 00 00 00 00 DC DD B3 0F 2F 80 00 \(data)")
    }

    private func read(_ records: [[UInt8]]) throws -> [(record: BTSnoop.Record, packet: [UInt8])] {
        var reader = BTSnoopReader()
        let capture = bytes("62 74 73 6E 6F 6F 70 00 00 00 00 01 00 00 07 D1") + records.joined()
        reader.append(capture.span)
        var packet = ByteWriter()
        var read: [(record: BTSnoop.Record, packet: [UInt8])] = []
        while let record = try reader.next(into: &packet) { read.append((record, packet.bytes)) }
        #expect(reader.isAtRecordBoundary)
        return read
    }

    static let kinds: [(UInt16, String, BTSnoop.Direction, HCIPacketType?)] = [
        (0, "New Index", .received, nil), (1, "Delete Index", .received, nil), (2, "HCI Command", .sent, .command),
        (3, "HCI Event", .received, .event), (4, "ACL Data TX", .sent, .aclData),
        (5, "ACL Data RX", .received, .aclData), (6, "SCO Data TX", .sent, .synchronousData),
        (7, "SCO Data RX", .received, .synchronousData), (8, "Open Index", .received, nil),
        (9, "Close Index", .received, nil), (10, "Index Info", .received, nil),
        (11, "Vendor Diagnostic", .received, nil), (12, "System Note", .received, nil),
        (13, "User Logging", .received, nil), (14, "Control Open", .received, nil),
        (15, "Control Close", .received, nil), (16, "Control Command", .received, nil),
        (17, "Control Event", .received, nil), (18, "ISO Data TX", .sent, .isoData),
        (19, "ISO Data RX", .received, .isoData), (20, "Monitor record 0x0014", .received, nil),
        (0xFFFF, "Monitor record 0xFFFF", .received, nil),
    ]

    @Test("every kind of record is recognized", arguments: kinds)
    func kind(_ opcode: UInt16, _ name: String, _ direction: BTSnoop.Direction, _ type: HCIPacketType?) throws {
        let records = try read([record("00 02 " + hexadecimal(opcode, digits: 4), "AA BB")])
        let read = try #require(records.first)
        #expect(
            read.record
                == BTSnoop.Record(
                    direction: direction, type: type, originalLength: 2, microsecondsSince1970: 0, adapter: 2,
                    monitorOpcode: BTSnoop.MonitorOpcode(rawValue: opcode)))
        #expect(read.packet == (type.map { [$0.rawValue] } ?? []) + [0xAA, 0xBB])
        #expect(read.record.monitorOpcode?.description == name)
    }

    @Test("records of several adapters, of no adapter, and without data are read in sequence")
    func several() throws {
        let records = try read([
            record("FF FF 00 0C", "4C 00"), record("00 00 00 08", ""), record("00 01 00 02", "03 0C 00"),
            record("00 00 00 09", ""),
        ])
        #expect(records.map(\.record.adapter) == [nil, 0, 1, 0])
        #expect(records.map(\.record.monitorOpcode) == [.systemNote, .openIndex, .command, .closeIndex])
        #expect(records.map(\.packet) == [[0x4C, 0], [], [1, 3, 0x0C, 0], []])
    }
}
