import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import Testing

@testable import ble

/// `ble monitor`: records as lines, and in a capture.
struct MonitorOutputTests {
    private let records: [(BTSnoop.Record, [UInt8])] = [
        (record(.newIndex, 16), [0x00, 0x01] + [1, 2, 3, 4, 5, 6] + Array("hci0\u{1B}[m\0".utf8)),
        (record(.command, 3), [0x01, 0x03, 0x0C, 0x00]),
        (record(.event, 6), [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]),
        (record(.systemNote, 4, adapter: 0xFFFF), Array("a\u{9B}b".utf8)),
    ]

    private static func record(
        _ opcode: BTSnoop.MonitorOpcode, _ length: Int, adapter: UInt16 = 0
    ) -> BTSnoop.Record {
        BTSnoop.Record(monitorOpcode: opcode, adapter: adapter, dataLength: length, microsecondsSince1970: 7_000_000)
    }

    @Test("Text matches that of a decoded capture, without control characters")
    func text() {
        var decoder = CaptureDecoder(showsKeys: false)
        for (record, packet) in records { decoder.append(record, packet.span, .monitor) }
        let lines = String(decoding: decoder.takeText(), as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines.count == 4 && lines.allSatisfy(isHarmless))
        #expect(lines[0].hasPrefix("hci0 0.000000 = New Index 06:05:04:03:02:01/P primary USB hci0"))
        #expect(lines[1] == "hci0 0.000000 > CMD Reset")
        #expect(lines[2].hasPrefix("hci0 0.000000 < EVT Command Complete"))
    }

    @Test("A capture has every record, and reads back unchanged")
    func capture() throws {
        let path = "/tmp/ble-monitor-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(path) }
        var output = try MonitorOutput(.file(path))
        for (record, packet) in records { output.append(record, packet.span) }
        try output.flush()
        var reader = BTSnoopReader(), packet = ByteWriter()
        reader.append(contents(of: path).span)
        for (record, bytes) in records {
            #expect(try reader.next(into: &packet) == record && packet.bytes == bytes)
        }
        #expect(try reader.next(into: &packet) == nil && reader.datalink == .monitor && reader.isAtRecordBoundary)
    }

    private func contents(of path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }
}
