import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Captures in btsnoop format")
struct BTSnoopTests {
    static let identification = "62 74 73 6E 6F 6F 70 00 00 00 00 01 "
    static let h4 = bytes(identification + "00 00 03 EA")
    static let reset = bytes("01 03 0C 00")
    /// Reset, sent at 2000-01-01 00:00:00.000001 UTC.
    static let record = bytes("00 00 00 04 00 00 00 04 00 00 00 02 00 00 00 05 00 E0 3A B4 4A 67 60 01 01 03 0C 00")
    static let time: Int64 = 946_684_800_000_001

    @Test("the header and a record, byte for byte")
    func writing() {
        #expect(written { BTSnoopWriter.appendHeader(to: &$0) } == Self.h4)
        let record = written {
            BTSnoopWriter.appendRecord(
                Self.reset.span, .sent, microsecondsSince1970: Self.time, cumulativeDrops: 5, to: &$0)
        }
        #expect(record == Self.record)
    }

    @Test(
        "the flags encode direction and kind",
        arguments: [
            ("01 03 0C 00", .sent, 2), ("04 10 01 42", .received, 3), ("02 40 00 01 00 AA", .sent, 0),
            ("02 40 20 01 00 AA", .received, 1),
        ] as [(String, BTSnoop.Direction, UInt8)])
    func flags(_ packet: String, _ direction: BTSnoop.Direction, _ flags: UInt8) throws {
        let record = written {
            BTSnoopWriter.appendRecord(bytes(packet).span, direction, microsecondsSince1970: 0, to: &$0)
        }
        #expect(Array(record[8..<12]) == [0, 0, 0, flags])
        let records = try read(Self.h4 + record, in: 64)
        #expect(records.map(\.packet) == [bytes(packet)])
        #expect(records.first?.record.direction == direction)
        #expect(records.first?.record.microsecondsSince1970 == 0)
    }

    @Test(
        "the monitor's opcodes encode direction and kind, and the flags the adapter",
        arguments: [
            ("01 03 0C 00", .sent, 2), ("04 10 01 42", .received, 3), ("02 40 00 01 00 AA", .sent, 4),
            ("02 40 20 01 00 AA", .received, 5), ("03 40 00 01 AA", .sent, 6), ("03 40 00 01 AA", .received, 7),
            ("05 40 00 01 00 AA", .sent, 18), ("05 40 00 01 00 AA", .received, 19),
        ] as [(String, BTSnoop.Direction, UInt8)])
    func monitor(_ packet: String, _ direction: BTSnoop.Direction, _ opcode: UInt8) throws {
        let header = written { BTSnoopWriter.appendHeader(.monitor, to: &$0) }
        #expect(header == bytes(Self.identification + "00 00 07 D1"))
        let record = written {
            BTSnoopWriter.appendMonitorRecord(
                bytes(packet).span, direction, adapter: 0x0102, microsecondsSince1970: 0, to: &$0)
        }
        #expect(Array(record[8..<12]) == [1, 2, 0, opcode])
        #expect(Array(record[24...]) == Array(bytes(packet).dropFirst()))
        let records = try read(header + record, in: 64)
        #expect(records.map(\.packet) == [bytes(packet)])
        #expect(records.first?.record.direction == direction)
        #expect(records.first?.record.adapter == 0x0102)
    }

    @Test("a packet that is not HCI has no record in the monitor format", arguments: ["", "00 01", "06 00"])
    func noMonitorRecord(_ packet: String) {
        #expect(
            written {
                BTSnoopWriter.appendMonitorRecord(
                    bytes(packet).span, .sent, adapter: 0, microsecondsSince1970: 0, to: &$0)
            }.isEmpty)
    }

    @Test("a capture is read back, however it is split", arguments: Array(1...60))
    func reading(_ size: Int) throws {
        let records = try read(Self.h4 + Self.record + Self.record, in: size)
        #expect(records.map(\.packet) == [Self.reset, Self.reset])
        let expected = BTSnoop.Record(
            direction: .sent, type: .command, originalLength: 4, cumulativeDrops: 5,
            microsecondsSince1970: Self.time)
        #expect(records.map(\.record) == [expected, expected])
    }

    @Test(
        "packets of captures without H4 indicators get one",
        arguments: [
            ("00 00 03 E9", "00 00 00 02", HCIPacketType.command, BTSnoop.Direction.sent, nil),
            ("00 00 03 E9", "00 00 00 03", .event, .received, nil),
            ("00 00 03 E9", "00 00 00 00", .aclData, .sent, nil),
            ("00 00 03 E9", "00 00 00 01", .aclData, .received, nil),
            ("00 00 07 D1", "00 01 00 02", .command, .sent, 1),
            ("00 00 07 D1", "00 00 00 03", .event, .received, 0),
            ("00 00 07 D1", "00 00 00 05", .aclData, .received, 0),
            ("00 00 07 D1", "00 00 00 12", .isoData, .sent, 0),
            ("00 00 07 D1", "00 00 00 00", nil, .received, 0),
        ] as [(String, String, HCIPacketType?, BTSnoop.Direction, UInt16?)])
    func datalinks(
        _ datalink: String, _ flags: String, _ type: HCIPacketType?, _ direction: BTSnoop.Direction, _ adapter: UInt16?
    ) throws {
        let capture = bytes(
            Self.identification + datalink + " 00 00 00 02 00 00 00 02" + flags + "00 00 00 00"
                + " 00 DC DD B3 0F 2F 80 00 AA BB")
        let records = try read(capture, in: capture.count)
        #expect(records.count == 1)
        #expect(records.first?.packet == (type.map { [$0.rawValue] } ?? []) + bytes("AA BB"))
        #expect(records.first?.record.type == type)
        #expect(records.first?.record.direction == direction)
        #expect(records.first?.record.adapter == adapter)
        #expect(records.first?.record.microsecondsSince1970 == 0)
    }

    @Test(
        "an invalid capture throws, at the faulty byte",
        arguments: [
            ("62 74 73 6E 6F 6F 70 01 00 00 00 01 00 00 03 EA", DecodingFailure(.invalidValue, at: 7)),
            ("62 74 73 6E 6F 6F 70 00 00 00 00 02 00 00 03 EA", DecodingFailure(.invalidValue, at: 8)),
            (identification + "00 00 03 EB", DecodingFailure(.unknownCode(1003), at: 12)),
            (identification + "FF FF 03 EA", DecodingFailure(.unknownCode(0xFFFF), at: 12)),
            (
                identification + "00 00 03 EA 00 00 00 01 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
                DecodingFailure(.invalidLength, at: 20)
            ),
            (
                identification + "00 00 03 EA FF FF FF FF FF FF FF FF 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
                DecodingFailure(.invalidLength, at: 20)
            ),
        ])
    func malformed(_ text: String, _ failure: DecodingFailure) {
        var reader = BTSnoopReader()
        var packet = ByteWriter()
        reader.append(bytes(text).span)
        #expect(throws: failure) { _ = try reader.next(into: &packet) }
        #expect(throws: failure) { _ = try reader.next(into: &packet) }
    }

    @Test("the earliest and latest times of a record do not trap", arguments: ["7F", "80", "FF", "00"])
    func extremeTimes(_ first: String) throws {
        var capture = Self.h4 + Self.record
        capture[32] = bytes(first)[0]
        #expect(try read(capture, in: capture.count).count == 1)
        for time in [Int64.min, .max] {
            let record = written {
                BTSnoopWriter.appendRecord(Self.reset.span, .sent, microsecondsSince1970: time, to: &$0)
            }
            #expect(try read(Self.h4 + record, in: 64).first?.record.microsecondsSince1970 == time)
        }
    }

    @Test("a truncated capture ends with the last complete record")
    func cutOff() throws {
        for length in 0..<Self.record.count {
            var reader = BTSnoopReader()
            var packet = ByteWriter()
            let capture = Self.h4 + Self.record + Array(Self.record.prefix(length))
            reader.append(capture.span)
            #expect(try reader.next(into: &packet) != nil)
            #expect(try reader.next(into: &packet) == nil)
            #expect(reader.isAtRecordBoundary == (length == 0))
        }
    }

    private func read(_ capture: [UInt8], in size: Int) throws -> [(record: BTSnoop.Record, packet: [UInt8])] {
        var reader = BTSnoopReader()
        var packet = ByteWriter()
        var records: [(record: BTSnoop.Record, packet: [UInt8])] = []
        for start in stride(from: 0, to: capture.count, by: size) {
            reader.append(capture[start..<min(start + size, capture.count)].span)
            while let record = try reader.next(into: &packet) { records.append((record, packet.bytes)) }
        }
        #expect(reader.isAtRecordBoundary)
        return records
    }
}
