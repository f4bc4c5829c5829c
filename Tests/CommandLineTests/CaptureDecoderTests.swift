import BluetoothHCI
import Testing

@testable import ble

/// `ble decode`: records as lines.
struct CaptureDecoderTests {
    private static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]

    private func lines(_ records: [(BTSnoop.Record, [UInt8])], _ datalink: BTSnoop.Datalink) -> [String] {
        var decoder = CaptureDecoder(showsKeys: false)
        for (record, packet) in records { decoder.append(record, packet.span, datalink) }
        return String(decoding: decoder.takeText(), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func record(
        at microseconds: Int64, length: Int = 4, drops: UInt32 = 0, adapter: UInt16? = nil
    ) -> BTSnoop.Record {
        BTSnoop.Record(
            direction: .sent, type: .command, originalLength: length, cumulativeDrops: drops,
            microsecondsSince1970: microseconds, adapter: adapter)
    }

    @Test("Times count from the first packet, and are never negative")
    func times() {
        let records = [5_000_000, 6_500_001, 4_000_000].map { (record(at: $0), Self.reset) }
        #expect(
            lines(records, .h4) == ["0.000000 > CMD Reset", "1.500001 > CMD Reset", "0.000000 > CMD Reset"])
    }

    @Test("Invalid timestamps do no harm")
    func wildTimes() {
        let records = [Int64.min, .max, 0].map { (record(at: $0), Self.reset) }
        #expect(lines(records, .h4).count == 3)
    }

    @Test("Missing and truncated packets are reported")
    func gaps() {
        let records = [record(at: 0), record(at: 0, length: 9, drops: 3)].map { ($0, Self.reset) }
        #expect(
            lines(records, .h4) == [
                "0.000000 > CMD Reset", "(3 packets were not captured)",
                "0.000000 > CMD Reset (cut off by the capture)",
            ])
    }

    @Test("The monitor's records are shown with their adapter, and are not cut off")
    func adapters() {
        let records = [record(at: 0, length: 3, adapter: 0), record(at: 0, length: 3, adapter: 7)]
        #expect(
            lines(records.map { ($0, Self.reset) }, .monitor) == [
                "hci0 0.000000 > CMD Reset", "hci7 0.000000 > CMD Reset",
            ])
    }

    private func note(_ opcode: BTSnoop.MonitorOpcode, adapter: UInt16?, length: Int) -> BTSnoop.Record {
        BTSnoop.Record(
            direction: .received, type: nil, originalLength: length, microsecondsSince1970: 0, adapter: adapter,
            monitorOpcode: opcode)
    }

    @Test("The monitor's notes are shown between the packets")
    func notes() {
        let records: [(BTSnoop.Record, [UInt8])] = [
            (note(.systemNote, adapter: nil, length: 2), [0x68, 0x69]), (note(.openIndex, adapter: 1, length: 0), []),
            (note(BTSnoop.MonitorOpcode(rawValue: 0x30), adapter: 1, length: 9), [0xAA]),
        ]
        #expect(
            lines(records, .monitor) == [
                "0.000000 = System Note hi", "hci1 0.000000 = Open Index",
                "hci1 0.000000 = Monitor record 0x0030 AA (cut off by the capture)",
            ])
    }

    private func fragment(_ adapter: UInt16, _ bytes: [UInt8]) -> (BTSnoop.Record, [UInt8]) {
        (
            BTSnoop.Record(
                direction: .received, type: .aclData, originalLength: bytes.count - 1, microsecondsSince1970: 0,
                adapter: adapter, monitorOpcode: .aclReceived), bytes
        )
    }

    @Test("Links with the same handle on two adapters do not mix")
    func links() {
        let start: [UInt8] = [0x02, 0x40, 0x20, 0x04, 0x00, 0x01, 0x00, 0x04, 0x00]
        let records = [
            fragment(0, start), fragment(1, start), fragment(0, [0x02, 0x40, 0x10, 0x01, 0x00, 0x13]),
            fragment(1, [0x02, 0x40, 0x10, 0x01, 0x00, 0x1E]),
        ]
        #expect(
            lines(records, .monitor).suffix(2) == [
                "hci0 0.000000 < ACL 0x0040 ATT_WRITE_RSP", "hci1 0.000000 < ACL 0x0040 ATT_HANDLE_VALUE_CFM",
            ])
    }

    @Test("Fragments are kept for a limited number of adapters")
    func bounded() {
        let start: [UInt8] = [0x02, 0x40, 0x20, 0x04, 0x00, 0x01, 0x00, 0x04, 0x00]
        let last: [UInt8] = [0x02, 0x40, 0x10, 0x01, 0x00, 0x13]
        for (count, isKept) in [(CaptureDecoder.maximumAdapters, true), (CaptureDecoder.maximumAdapters + 1, false)] {
            let records = (0..<UInt16(count)).map { fragment($0, start) } + [fragment(0, last)]
            #expect(lines(records, .monitor).last?.hasSuffix("ATT_WRITE_RSP") == isKept)
        }
    }
}
