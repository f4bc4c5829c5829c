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

    @Test("Times count from the first packet, and never backwards beyond it")
    func times() {
        let records = [5_000_000, 6_500_001, 4_000_000].map { (record(at: $0), Self.reset) }
        #expect(
            lines(records, .h4) == ["0.000000 > CMD Reset", "1.500001 > CMD Reset", "0.000000 > CMD Reset"])
    }

    @Test("A clock that makes no sense does no harm")
    func wildTimes() {
        let records = [Int64.min, .max, 0].map { (record(at: $0), Self.reset) }
        #expect(lines(records, .h4).count == 3)
    }

    @Test("Packets that are missing, and those cut off, are told of")
    func gaps() {
        let records = [record(at: 0), record(at: 0, length: 9, drops: 3)].map { ($0, Self.reset) }
        #expect(
            lines(records, .h4) == [
                "0.000000 > CMD Reset", "(3 packets were not captured)",
                "0.000000 > CMD Reset (cut off by the capture)",
            ])
    }

    @Test("The monitor's records carry their adapter, and count no indicator")
    func adapters() {
        let records = [record(at: 0, length: 3, adapter: 0), record(at: 0, length: 3, adapter: 7)]
        #expect(
            lines(records.map { ($0, Self.reset) }, .monitor) == [
                "hci0 0.000000 > CMD Reset", "hci7 0.000000 > CMD Reset",
            ])
    }
}
