import BluetoothBase
import BluetoothHCI
import BluetoothTrace
import Foundation
import Testing

/// A capture of the kernel's monitor: several adapters of one machine, and notes between the packets.
struct MonitorCapture: Sendable {
    /// Directory and name, without the extension.
    var name: String
    /// The file as it is.
    var file: [UInt8]
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
        self.file = file
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

    /// The trace of every record, with a tracer for each adapter.
    func descriptions() -> [(adapter: UInt16?, description: PacketDescription)] {
        var tracers: [UInt16?: PacketTracer] = [:]
        return records.map { record, data in
            let direction: PacketTracer.Direction =
                record.direction == .sent ? .hostToController : .controllerToHost
            guard record.type == nil, let opcode = record.monitorOpcode else {
                let description = tracers[record.adapter, default: PacketTracer()].describe(
                    data.span, direction: direction)
                return (record.adapter, description)
            }
            return (
                record.adapter,
                tracers[record.adapter, default: PacketTracer()].describe(note: data.span, opcode: opcode)
            )
        }
    }

    /// The packets of each adapter, as a capture of its own.
    var adapters: [Capture] {
        var packets: [UInt16: [Capture.Packet]] = [:]
        for (record, data) in records where record.type != nil {
            guard let adapter = record.adapter else { continue }
            var record = record
            // With the indicator, which the monitor's records do not have.
            record.originalLength += 1
            packets[adapter, default: []].append(Capture.Packet(record: record, bytes: data))
        }
        return packets.sorted { $0.key < $1.key }
            .map { Capture(name: "\(name)-hci\($0.key)", file: file, packets: $0.value) }
    }
}
