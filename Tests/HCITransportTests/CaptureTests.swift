import BluetoothBase
import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI
import TestSupport
import Testing

@testable import HCITransport

struct CaptureTests {
    /// 2001-02-03 04:05:06.000007 UTC.
    private static let time: Int64 = 981_173_106_000_007

    private static let header = bytes("62 74 73 6E 6F 6F 70 00 00000001 000003EA")

    /// A record as the format has it: both lengths, flags, no drops, the time, the packet.
    private static func record(_ packet: [UInt8], flags: UInt8, plus ticks: UInt64 = 0) -> [UInt8] {
        let length = [0, 0, 0, UInt8(packet.count)]
        // Microseconds since the start of year 0.
        let time = UInt64(0x00E0_3AB4_4A67_6000) - 946_684_800_000_000 + UInt64(Self.time) + ticks
        let stamp = (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * $0)) }
        return length + length + [0, 0, 0, flags] + [0, 0, 0, 0] + stamp + packet
    }

    @Test("both directions are recorded byte for byte, from either side", arguments: [true, false])
    func recordsBothDirections(isHost: Bool) throws {
        let directory = Directory(), path = directory.file("capture")
        let pair = try PacketTransport.pair()
        let (near, far) = isHost ? (pair.host, pair.controller) : (pair.controller, pair.host)
        var now = Self.time
        let captured = CapturedTransport(
            near, to: try CaptureFile(path: path),
            clock: {
                defer { now += 1 }
                return now
            })
        try captured.send(reset)
        #expect(try receive(1, from: far) == [reset])
        // Not only once the file is closed: after each packet.
        let sent: UInt8 = isHost ? 0 : 1
        #expect(contents(of: path) == Self.header + Self.record(reset, flags: 2 + sent))

        try far.send(resetComplete)
        #expect(try receive(1, from: captured) == [resetComplete])
        var queue = PacketQueue()
        queue.append(aclData)
        try captured.send(&queue)
        #expect(
            contents(of: path) == Self.header + Self.record(reset, flags: 2 + sent)
                + Self.record(resetComplete, flags: 3 - sent, plus: 1) + Self.record(aclData, flags: sent, plus: 2))
        #expect(captured.name == near.name)
        captured.close()
        #expect(near.fileDescriptor == -1)
    }

    @Test("a captured transport keeps its reopening name")
    func reopening() throws {
        let directory = Directory(), name = TransportName.hciSocket(.index(3))
        let adapter = PacketTransport(
            name: "hci-socket:3", fileDescriptor: 9, calls: ScriptedSocket().calls, reopeningName: name)
        let captured = CapturedTransport(adapter, to: try CaptureFile(path: directory.file("capture")))
        #expect(captured.reopeningName == name)
        #expect(try PacketTransport.pair().host.reopeningName == nil)
    }

    @Test("a stream is recorded as it is delivered, with the adapter of each packet")
    func recordsAdapters() throws {
        let directory = Directory(), path = directory.file("capture")
        let pair = try StreamTransport.pair()
        let captured = CapturedTransport(
            pair.host, to: try CaptureFile(path: path, datalink: .monitor), adapter: 3, clock: { Self.time })
        try captured.send(reset)
        try pair.controller.send(resetComplete)
        #expect(try receive(1, from: captured) == [resetComplete])

        var reader = BTSnoopReader()
        reader.append(contents(of: path).span)
        var packet = ByteWriter()
        #expect(
            try reader.next(into: &packet)
                == BTSnoop.Record(
                    direction: .sent, type: .command, originalLength: reset.count - 1,
                    microsecondsSince1970: Self.time, adapter: 3, monitorOpcode: .command))
        #expect(packet.bytes == reset)
        #expect(
            try reader.next(into: &packet)
                == BTSnoop.Record(
                    direction: .received, type: .event, originalLength: resetComplete.count - 1,
                    microsecondsSince1970: Self.time, adapter: 3, monitorOpcode: .event))
        #expect(packet.bytes == resetComplete)
        #expect(reader.isAtRecordBoundary)
    }

    @Test("a packet that the transport rejects is not recorded as sent")
    func refused() throws {
        let directory = Directory(), path = directory.file("capture")
        let inner = PacketTransport(
            name: "test", fileDescriptor: 7, calls: ScriptedSocket().calls, outputLimit: 8)
        let captured = CapturedTransport(inner, to: try CaptureFile(path: path), clock: { Self.time })
        try captured.send(reset)
        #expect(reason { () throws(TransportError) in try captured.send(reset) } == .outputFull(pending: 8))
        #expect(captured.wantsWrite)
        #expect(contents(of: path) == Self.header + Self.record(reset, flags: 2))
    }

    @Test("a file that cannot be written fails at once")
    func unwritable() {
        for (path, code) in [("/nowhere/capture", ENOENT), ("/dev/full", ENOSPC)] {
            #expect(throws: TransportError(.captureNotWritable(code: code), transport: path)) {
                try CaptureFile(path: path) { Issue.record("thrown and reported: \($0)") }
            }
        }
    }

    @Test("a reader that closes its end stops the recording, is reported once, and does not stop the traffic")
    func readerLeaves() throws {
        let directory = Directory(), path = directory.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        var reports: [TransportError] = []
        let file = try CaptureFile(path: path) { reports.append($0) }
        let (host, controller) = try PacketTransport.pair()
        let captured = CapturedTransport(host, to: file, clock: { Self.time })
        try captured.send(reset)
        var read = [UInt8](repeating: 0, count: 100)
        let count = BluetoothPlatform.read(reader, &read, read.count)
        #expect(Array(read.prefix(max(0, count))) == Self.header + Self.record(reset, flags: 2))

        let writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(writer) }
        close(reader)
        try waitForHangUp(of: writer)
        for _ in 0..<3 { try captured.send(reset) }
        #expect(reports == [TransportError(.captureNotWritable(code: EPIPE), transport: path)])
        #expect(file.failure == reports.first)
        #expect(try receive(4, from: controller) == [reset, reset, reset, reset])
    }

    @Test("a reader that is too slow stops the recording, but not the traffic")
    func readerStalls() throws {
        let directory = Directory(), path = directory.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        var reports = 0
        let file = try CaptureFile(path: path) { _ in reports += 1 }
        let packet = [0x02] + [UInt8](repeating: 0, count: 1000)
        // More than a pipe holds, which is a mebibyte if it was enlarged.
        for _ in 0..<2000 { file.append(packet.span, direction: .received, microsecondsSince1970: 0) }
        #expect(reports == 1)
        #expect(file.failure?.reason == .captureNotWritable(code: EAGAIN))
    }

    @Test("a full disk leaves a file that ends with a complete record")
    func fullDisk() throws {
        let directory = Directory(), path = directory.file("capture")
        var room = reset.count + 3
        let output = try CaptureOutput(path: path) { descriptor, bytes in
            let count = min(room, bytes.count)
            room -= count
            return BluetoothPlatform.write(descriptor, bytes.baseAddress, count)
        }
        let record = reset
        try output.write(record.span)
        #expect(throws: Errno(ENOSPC)) { try output.write(record.span) }
        #expect(contents(of: path) == reset)
    }

    private static let tshark: String? = ["/usr/bin/tshark", "/usr/local/bin/tshark"].first(where: exists)

    @Test("tshark reads the capture", .enabled(if: tshark != nil))
    func analyser() throws {
        let directory = Directory(), path = directory.file("capture")
        do {
            let file = try CaptureFile(path: path)
            let packets: [([UInt8], BTSnoop.Direction)] = [
                (reset, .sent), (resetComplete, .received), (aclData, .received),
            ]
            for (packet, direction) in packets {
                file.append(packet.span, direction: direction, microsecondsSince1970: Self.time)
            }
        }
        let command = "\(Self.tshark ?? "") -r \(path) -T fields -e frame.time_epoch -e hci_h4.type -e hci_h4.direction"
        let pipe = try #require(popen(command + " 2>/dev/null", "r"))
        var output = [UInt8](repeating: 0, count: 4096)
        let count = fread(&output, 1, output.count, pipe)
        #expect(pclose(pipe) == 0)
        let lines = String(decoding: output.prefix(count), as: UTF8.self).split(separator: "\n")
        #expect(
            lines.map { String($0.split(separator: "\t").dropFirst().joined(separator: " ")) } == [
                "0x01 0x00", "0x04 0x01", "0x02 0x01",
            ])
        #expect(lines.allSatisfy { $0.contains("981173106.000007") || $0.contains("04:05:06.000007") })
    }
}
