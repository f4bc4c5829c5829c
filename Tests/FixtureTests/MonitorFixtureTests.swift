import BluetoothBase
import BluetoothHCI
import BluetoothTrace
import Foundation
import Testing

/// A capture that BlueZ's monitor wrote: several adapters of one machine, and notes between the packets.
struct MonitorCapture: Sendable {
    /// Directory and name, without the extension.
    var name: String
    var records: [(record: BTSnoop.Record, data: [UInt8])]

    static let all: [MonitorCapture] = (try? readAll()) ?? []

    private static func readAll() throws -> [MonitorCapture] {
        let folder = Capture.directory.appending(path: "Kernel")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(".btsnoop") }
            .map { file in
                let bytes = [UInt8](try Data(contentsOf: folder.appending(path: file)))
                return try MonitorCapture(name: "Kernel/\(file.dropLast(".btsnoop".count))", file: bytes)
            }
    }

    private init(name: String, file: [UInt8]) throws {
        self.name = name
        records = []
        var reader = BTSnoopReader()
        reader.append(file.span)
        var packet = ByteWriter()
        while let record = try reader.next(into: &packet) { records.append((record, packet.bytes)) }
        guard reader.isAtRecordBoundary, reader.datalink == .monitor else { throw Capture.Unreadable(path: name) }
    }
}

extension MonitorCapture: CustomTestStringConvertible {
    var testDescription: String { name }

    /// What the tracer makes of every record, with a tracer for each adapter.
    fileprivate func descriptions() -> [(adapter: UInt16?, description: PacketDescription)] {
        var tracers: [UInt16?: PacketTracer] = [:]
        return records.map { record, data in
            let direction: PacketTracer.Direction =
                record.direction == .sent ? .hostToController : .controllerToHost
            guard record.type == nil, let opcode = record.monitorOpcode else {
                let description = tracers[record.adapter, default: PacketTracer()].describe(data.span, direction)
                return (record.adapter, description)
            }
            return (record.adapter, tracers[record.adapter, default: PacketTracer()].describe(note: data.span, opcode))
        }
    }
}

@Suite("Fixtures: the kernel's monitor")
struct MonitorFixtureTests {
    @Test("there is a capture, and every kind of record in it has a name")
    func kinds() {
        let opcodes = MonitorCapture.all.flatMap(\.records).compactMap(\.record.monitorOpcode)
        // No audio, no vendor's diagnostics.
        #expect(Set(opcodes.map(\.rawValue)) == [0, 1, 2, 3, 4, 5, 8, 9, 10, 12, 13, 14, 15, 16, 17])
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

    @Test("what one adapter sends, the other receives, although both know the link by one handle")
    func mirrored() throws {
        let capture = try #require(MonitorCapture.all.first)
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
