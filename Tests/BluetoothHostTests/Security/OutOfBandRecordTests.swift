import BluetoothBase
import BluetoothHost
import BluetoothSMP
import Testing

@Suite("Out-of-band data as AD structures (CSS, Part A, 1.6 to 1.8 and 1.16)")
struct OutOfBandRecordTests {
    private static let key = octets(0x00)
    private static let confirm = octets(0x10), random = octets(0x20)
    private static let address: [UInt8] = [0x08, 0x1B, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0, 0x01]

    /// Sixteen octets that count up from one.
    private static func octets(_ first: UInt8) -> [UInt8] { (0..<16).map { first + $0 } }

    private static func number(_ octets: [UInt8]) -> UInt128 { octets.reversed().reduce(0) { $0 << 8 | UInt128($1) } }

    static let records: [(OutOfBandRecord, [UInt8])] = [
        (OutOfBandRecord(.temporaryKey(number(key))), [0x11, 0x10] + key),
        (
            OutOfBandRecord(.secureConnections(confirm: number(confirm), random: number(random))),
            [0x11, 0x22] + confirm + [0x11, 0x23] + random
        ),
        (
            OutOfBandRecord(.temporaryKey(number(key)), of: DeviceAddress(0xC011_2233_4455, kind: .random)),
            address + [0x11, 0x10] + key
        ),
        (
            OutOfBandRecord(.temporaryKey(number(key)), of: DeviceAddress(0x0011_2233_4455, kind: .public)),
            [0x08, 0x1B, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00, 0x00, 0x11, 0x10] + key
        ),
    ]

    @Test("Records are encoded and decoded", arguments: records.indices)
    func coding(index: Int) throws {
        let (record, octets) = Self.records[index]
        var writer = ByteWriter()
        record.encode(into: &writer)
        #expect(writer.bytes == octets)
        #expect(try OutOfBandRecord(decoding: octets.span) == record)
    }

    @Test("Other structures are skipped, and data for LE Secure Connections is preferred")
    func others() throws {
        let name: [UInt8] = [0x03, 0x09, 0x41, 0x42], role: [UInt8] = [0x02, 0x1C, 0x02]
        let key: [UInt8] = [0x11, 0x10] + Self.key, random: [UInt8] = [0x11, 0x23] + Self.random
        let confirm: [UInt8] = [0x11, 0x22] + Self.confirm
        let octets: [UInt8] = role + key + name + random + confirm
        let record = try OutOfBandRecord(decoding: octets.span)
        #expect(record.data == .secureConnections(confirm: Self.number(Self.confirm), random: Self.number(Self.random)))
        #expect(record.address == nil)
    }

    @Test(
        "Invalid records are rejected",
        arguments: [
            [], [0x03, 0x09, 0x41, 0x42], [0x11, 0x22] + confirm, [0x11, 0x23] + random,
            // Half of what LE Secure Connections needs is not made up for by a temporary key.
            [0x11, 0x22] + confirm + [0x11, 0x10] + key,
            [0x10, 0x10] + key.dropLast(), [0x12, 0x10] + key + [0],
            [0x11, 0x10] + key.dropLast(), [0x07, 0x1B, 0x55, 0x44, 0x33, 0x22, 0x11, 0xC0, 0x11, 0x10] + key,
            address,
        ] as [[UInt8]])
    func refused(octets: [UInt8]) {
        #expect(throws: DecodingFailure.self) { try OutOfBandRecord(decoding: octets.span) }
    }

    @Test("An incomplete record reports a missing structure of 18 octets at its end")
    func missing() {
        for octets in [[], Self.address, [0x11, 0x22] + Self.confirm] as [[UInt8]] {
            #expect(throws: DecodingFailure(.truncated(missing: 18), at: octets.count)) {
                try OutOfBandRecord(decoding: octets.span)
            }
        }
    }
}
