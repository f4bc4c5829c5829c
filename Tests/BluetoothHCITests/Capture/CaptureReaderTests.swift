import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing

@Suite("Captures in pcap and pcapng format")
struct CaptureReaderTests {
    private static let reset = bytes("01 03 0C 00")

    private struct Read {
        var record: BTSnoop.Record
        var packet: [UInt8]
    }

    private func read(_ file: [UInt8], in piece: Int = 7) throws(DecodingFailure) -> (reader: CaptureReader, [Read]) {
        var reader = CaptureReader()
        var packet = ByteWriter()
        var found: [Read] = []
        for start in stride(from: 0, to: file.count, by: piece) {
            reader.append(file.span.extracting(start..<min(start + piece, file.count)))
            while let record = try reader.next(into: &packet) {
                found.append(Read(record: record, packet: packet.bytes))
            }
        }
        return (reader, found)
    }

    // MARK: - pcap

    /// Reset, at 1,000,000,000.000001 s.
    static let pcaps: [(String, String)] = [
        (
            "microseconds, least significant octet first, with a direction",
            "D4 C3 B2 A1 02 00 04 00 00 00 00 00 00 00 00 00 00 00 04 00 C9 00 00 00"
                + "00 CA 9A 3B 01 00 00 00 08 00 00 00 08 00 00 00 00 00 00 00 01 03 0C 00"
        ),
        (
            "the other order",
            "A1 B2 C3 D4 00 02 00 04 00 00 00 00 00 00 00 00 00 04 00 00 00 00 00 C9"
                + "3B 9A CA 00 00 00 00 01 00 00 00 08 00 00 00 08 00 00 00 00 01 03 0C 00"
        ),
        (
            "nanoseconds, and no direction",
            "4D 3C B2 A1 02 00 04 00 00 00 00 00 00 00 00 00 00 00 04 00 BB 00 00 00"
                + "00 CA 9A 3B E8 03 00 00 04 00 00 00 04 00 00 00 01 03 0C 00"
        ),
        (
            "BlueZ's monitor",
            "D4 C3 B2 A1 02 00 04 00 00 00 00 00 00 00 00 00 00 00 04 00 FE 00 00 00"
                + "00 CA 9A 3B 01 00 00 00 07 00 00 00 07 00 00 00 00 00 00 02 03 0C 00"
        ),
    ]

    @Test("pcap: byte orders, time units and directions", arguments: pcaps, [1, 7, 1000])
    func pcap(_ file: (name: String, octets: String), _ piece: Int) throws {
        let (reader, found) = try read(bytes(file.octets), in: piece)
        let one = try #require(found.first)
        #expect(found.count == 1 && one.packet == Self.reset)
        #expect(one.record.direction == .sent && one.record.type == .command)
        #expect(one.record.microsecondsSince1970 == 1_000_000_000_000_001)
        let isMonitor = file.name == "BlueZ's monitor"
        #expect(reader.datalink == (isMonitor ? .monitor : .h4))
        #expect(one.record.adapter == (isMonitor ? 0 : nil))
        #expect(one.record.originalLength == (isMonitor ? 3 : 4))
        #expect(reader.isAtRecordBoundary)
    }

    private static let header = "D4 C3 B2 A1 02 00 04 00 00 00 00 00 00 00 00 00 00 00 04 00 C9 00 00 00 "

    @Test("an event without a direction comes from the controller")
    func direction() throws {
        let (_, found) = try read(
            bytes(
                "D4 C3 B2 A1 02 00 04 00 00 00 00 00 00 00 00 00 00 00 04 00 BB 00 00 00"
                    + "00 00 00 00 00 00 00 00 04 00 00 00 04 00 00 00 04 10 01 42"))
        #expect(found.map(\.record.direction) == [.received])
    }

    @Test("a packet that the capture truncated keeps its original length")
    func cut() throws {
        let (_, found) = try read(
            bytes(Self.header + "00 00 00 00 00 00 00 00 06 00 00 00 0C 00 00 00 00 00 00 01 04 10"))
        #expect(found.map(\.record.originalLength) == [8])
        #expect(found.map(\.packet) == [[0x04, 0x10]])
        #expect(found.map(\.record.direction) == [.received])
    }

    @Test(
        "malformed pcap is rejected, at the faulty byte",
        arguments: [
            ("D4 C3 B2 A1 02 00 04 00 00 00 00 00 00 00 00 00 00 00 04 00 01 00 00 00", .unknownCode(1), 20),
            (header + "00 00 00 00 00 00 00 00 09 00 00 00 08 00 00 00", .invalidLength, 32),
            (header + "00 00 00 00 00 00 00 00 09 00 01 00 09 00 01 00", .invalidLength, 32),
            // Too short for its direction.
            (header + "00 00 00 00 00 00 00 00 02 00 00 00 02 00 00 00 00 00", .truncated(missing: 2), 26),
        ] as [(String, DecodingFailure.Reason, Int)])
    func wrongPcap(_ file: String, _ reason: DecodingFailure.Reason, _ offset: Int) {
        #expect(throws: DecodingFailure(reason, at: offset)) { try read(bytes(file)) }
    }

    // MARK: - pcapng

    private static let section =
        "0A 0D 0D 0A 1C 00 00 00 4D 3C 2B 1A 01 00 00 00 FF FF FF FF FF FF FF FF 1C 00 00 00 "
    private static let h4 = "01 00 00 00 14 00 00 00 BB 00 00 00 00 00 00 00 14 00 00 00 "
    /// With time stamps in units of 2^-10 s.
    private static let binary =
        "01 00 00 00 20 00 00 00 BB 00 00 00 00 00 00 00 09 00 01 00 8A 00 00 00 00 00 00 00 20 00 00 00 "
    private static let ethernet = "01 00 00 00 14 00 00 00 01 00 00 00 00 00 00 00 14 00 00 00 "

    /// An Enhanced Packet Block of four octets.
    private static func packet(
        _ octets: String = "01 03 0C 00 ", interface: String = "00 00 00 00 ",
        time: String = "00 00 00 00 01 00 00 00 ", flags: String = "02 00 00 00 ",
    ) -> String {
        "06 00 00 00 30 00 00 00 " + interface + time + "04 00 00 00 04 00 00 00 " + octets + "02 00 04 00 " + flags
            + "00 00 00 00 30 00 00 00 "
    }

    @Test("pcapng: interfaces, their time units, directions, and skipped blocks", arguments: [1, 7, 1000])
    func pcapng(_ piece: Int) throws {
        let file = bytes(
            Self.section + Self.h4 + Self.binary + Self.ethernet + Self.packet()
                // Statistics, which nobody asked for.
                + "05 00 00 00 18 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 18 00 00 00 "
                + Self.packet(interface: "02 00 00 00 ")
                + Self.packet(
                    "04 10 01 42 ", interface: "01 00 00 00 ", time: "00 00 00 00 00 02 00 00 ", flags: "01 00 00 00 ")
                // A simple packet has no time.
                + "03 00 00 00 14 00 00 00 04 00 00 00 01 03 0C 00 14 00 00 00")
        let (reader, found) = try read(file, in: piece)
        #expect(found.map(\.packet) == [Self.reset, bytes("04 10 01 42"), Self.reset])
        #expect(found.map(\.record.direction) == [.sent, .received, .sent])
        #expect(found.map(\.record.microsecondsSince1970) == [1, 500_000, 0])
        #expect(reader.skippedCount == 1 && reader.isAtRecordBoundary && reader.datalink == .h4)
    }

    @Test("pcapng: a section in big-endian order, followed by another")
    func bigEndian() throws {
        let file = bytes(
            "0A 0D 0D 0A 00 00 00 1C 1A 2B 3C 4D 00 01 00 00 FF FF FF FF FF FF FF FF 00 00 00 1C"
                + "00 00 00 01 00 00 00 14 00 C9 00 00 00 00 00 00 00 00 00 14"
                + "00 00 00 06 00 00 00 34 00 00 00 00 00 00 00 00 00 00 00 05 00 00 00 08 00 00 00 08"
                + "00 00 00 01 04 10 01 42 00 04 00 08 00 00 00 00 00 00 00 03 00 00 00 34"
                // Sections may differ.
                + Self.section + Self.h4 + Self.packet())
        let (_, found) = try read(file)
        #expect(found.map(\.packet) == [bytes("04 10 01 42"), Self.reset])
        #expect(found.map(\.record.direction) == [.received, .sent])
        #expect(found.map(\.record.cumulativeDrops) == [3, 3])
        #expect(found.map(\.record.microsecondsSince1970) == [5, 1])
    }

    @Test(
        "malformed pcapng is rejected, at the faulty byte",
        arguments: [
            ("0A 0D 0D 0A 1C 00 00 00 00 00 00 00", .invalidValue, 8),
            (section + "01 00 00 00 0B 00 00 00 00 00 00 00", .invalidLength, 32),
            (section + "01 00 00 00 04 00 00 00 00 00 00 00", .invalidLength, 32),
            (section + "06 00 00 00 00 00 00 7F 00 00 00 00", .invalidLength, 32),
            // A packet of an interface that there is not.
            (section + packet(), .invalidValue, 36),
        ] as [(String, DecodingFailure.Reason, Int)])
    func wrongPcapng(_ file: String, _ reason: DecodingFailure.Reason, _ offset: Int) {
        #expect(throws: DecodingFailure(reason, at: offset)) { try read(bytes(file)) }
    }

    @Test(
        "a capture that ends in the middle of a record is not at a record boundary",
        arguments: [
            pcaps[0].1, section + h4 + packet(), "62 74 73 6E 6F 6F 70 00 00 00 00 01 00 00 03 EA 00 00 00 01",
        ])
    func truncated(_ file: String) throws {
        let (reader, found) = try read(Array(bytes(file).dropLast()))
        #expect(found.isEmpty && !reader.isAtRecordBoundary)
    }
}
