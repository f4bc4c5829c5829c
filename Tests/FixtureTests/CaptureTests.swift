import BluetoothBase
import BluetoothHCI
import Foundation
import TestSupport
import Testing

@Suite("Fixtures: captures")
struct CaptureTests {
    @Test("every capture is rewritten to the same bytes", arguments: Capture.files)
    func rewritten(_ capture: Capture) {
        let copy = written { writer in
            BTSnoopWriter.appendHeader(to: &writer)
            for packet in capture.packets {
                BTSnoopWriter.appendRecord(
                    packet.bytes.span, packet.record.direction,
                    microsecondsSince1970: packet.record.microsecondsSince1970,
                    cumulativeDrops: packet.record.cumulativeDrops, to: &writer)
            }
        }
        #expect(copy == capture.file)
    }

    @Test("no packet was lost or truncated", arguments: Capture.all)
    func whole(_ capture: Capture) {
        for packet in capture.packets {
            #expect(packet.record.cumulativeDrops == 0)
            #expect(packet.record.originalLength == packet.bytes.count)
        }
    }

    @Test("the captures are the ones listed in the README, with the same number of packets")
    func listed() throws {
        let readme = try String(contentsOf: Capture.directory.appending(path: "README.md"), encoding: .utf8)
        var stack = ""
        var listed: [String: Int] = [:]
        for line in readme.split(separator: "\n") {
            if line.hasPrefix("### ") { stack = String(line.dropFirst(4)) }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, cells[0].hasSuffix(".btsnoop`"), let packets = Int(cells[1]) else { continue }
            listed["\(stack)/\(cells[0].dropFirst().dropLast(".btsnoop`".count))"] = packets
        }
        let found = Dictionary(
            uniqueKeysWithValues: Capture.files.map { ($0.name, $0.packets.count) }
                + MonitorCapture.all.map { ($0.name, $0.records.count) })
        #expect(found.filter { !$0.key.hasPrefix("Ours/") } == listed.filter { !$0.key.hasPrefix("Ours/") })
        #expect(!listed.isEmpty)
    }

    @Test("H4 framing splits each direction of a capture into the recorded packets", arguments: Capture.all)
    func framed(_ capture: Capture) throws {
        for receiver in [H4Framer.Receiver.host, .controller] {
            let packets = capture.packets.filter { $0.isFromController == (receiver == .host) }.map(\.bytes)
            let stream = packets.flatMap { $0 }
            var framer = H4Framer(receiver: receiver)
            var framed: [[UInt8]] = []
            // Pieces of 7 bytes cut every kind of header somewhere, and never contain many packets.
            for start in stride(from: 0, to: stream.count, by: 7) {
                let piece = stream.span.extracting(start..<min(start + 7, stream.count))
                try framer.receive(piece) { framed.append(Array($0)) }
            }
            #expect(framed == packets)
        }
    }
}
