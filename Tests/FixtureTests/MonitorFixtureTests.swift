import BluetoothBase
import BluetoothHCI
import BluetoothTrace
import TestSupport
import Testing

@Suite("Fixtures: the kernel's monitor")
struct MonitorFixtureTests {
    @Test("the captures contain every kind of record except audio and vendor diagnostics")
    func kinds() {
        let opcodes = MonitorCapture.all.flatMap(\.records).compactMap(\.record.monitorOpcode)
        // No audio and no vendor diagnostics.
        #expect(Set(opcodes.map(\.rawValue)) == [0, 1, 2, 3, 4, 5, 8, 9, 10, 12, 13, 14, 15, 16, 17])
    }

    @Test("every packet is encoded to the same record", arguments: MonitorCapture.all)
    func rewritten(_ capture: MonitorCapture) throws {
        var start = 16
        for (record, data) in capture.records {
            let end = start + 24 + record.originalLength
            defer { start = end }
            guard record.type != nil else { continue }
            let adapter = try #require(record.adapter)
            let again = written { writer in
                BTSnoopWriter.appendMonitorRecord(
                    data.span, record.direction, adapter: adapter, microsecondsSince1970: record.microsecondsSince1970,
                    to: &writer)
            }
            #expect(again == Array(capture.file[start..<end]))
        }
        #expect(start == capture.file.count)
    }

    @Test("nothing is malformed, lost or unfinished", arguments: MonitorCapture.all)
    func understood(_ capture: MonitorCapture) {
        for (_, description) in capture.descriptions() {
            #expect(description.malformation == nil, "\(description.text)")
            #expect(!description.text.contains("unfinished"))
        }
        for record in capture.records {
            #expect(record.record.cumulativeDrops == 0)
            let indicatorLength = record.record.type == nil ? 0 : 1
            #expect(record.record.originalLength + indicatorLength == record.data.count)
        }
    }

    @Test(
        "each adapter receives what the other sends, although both use the same handle for the link",
        arguments: MonitorCapture.all)
    func mirrored(_ capture: MonitorCapture) throws {
        let frames = zip(capture.records, capture.descriptions()).filter { $0.1.description.frame != nil }
        func texts(adapter: UInt16, _ direction: BTSnoop.Direction) -> [String] {
            frames.filter { $0.0.record.adapter == adapter && $0.0.record.direction == direction }
                .map(\.1.description.text)
        }
        #expect(texts(adapter: 0, .sent) == texts(adapter: 1, .received))
        #expect(texts(adapter: 1, .sent) == texts(adapter: 0, .received))
        #expect(texts(adapter: 0, .sent).count > 10)
    }
}
