import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

/// A percentage at 0003 and a temperature at 0006, both at once at 0009.
@Suite("Characteristic Presentation Format and Aggregate Format (Vol 3, Part G, 3.3.3.5 and 3.3.3.6)")
struct FormatTests {
    private static let percentage = GATTPresentationFormat(format: 0x04, unit: "27AD", description: 0x0101)
    private static let temperature = GATTPresentationFormat(format: 0x0E, exponent: -2, unit: "272F")
    private static let formats: [(String, GATTPresentationFormat)] = [
        ("04 00 AD 27 01 01 01", percentage), ("0E FE 2F 27 01 00 00", temperature),
    ]

    private func bench() throws -> ServerBench {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: "F000",
                characteristics: [
                    .init(
                        uuid: "F001", properties: .read, value: .constant([50]),
                        descriptors: [.presentationFormat(Self.percentage)]),
                    .init(
                        uuid: "F002", properties: .read, value: .constant([0x34, 0x12]),
                        descriptors: [.presentationFormat(Self.temperature)]),
                    .init(
                        uuid: "F003", properties: .read, value: .constant([50, 0x34, 0x12]),
                        descriptors: [.aggregateFormat(GATTAggregateFormat(formats: [4, 7]))]),
                ]))
        return ServerBench(database)
    }

    @Test("GATT/SR/GPA/BV-12, BV-11: a server tells the formats, and nobody writes them")
    func served() throws {
        var bench = try bench()
        #expect(bench.send("04 04 00 04 00") == "05 01 04 00 04 29")
        #expect(bench.send("0A 04 00") == "0B " + Self.formats[0].0)
        #expect(bench.send("0A 07 00") == "0B " + Self.formats[1].0)
        #expect(bench.send("08 01 00 FF FF 04 29") == "09 09 04 00 \(Self.formats[0].0) 07 00 \(Self.formats[1].0)")
        #expect(bench.send("08 01 00 FF FF 05 29") == "09 06 0A 00 04 00 07 00")
        #expect(bench.send("0A 0A 00") == "0B 04 00 07 00")
        #expect(bench.send("0A 09 00") == "0B 32 34 12")
        for request in ["12 04 00 00", "12 0A 00 00"] { #expect(bench.send(request).hasSuffix("03")) }
    }

    @Test("GATT/CL/GPA/BV-12: a client reads a format", arguments: formats)
    func read(octets: String, format: GATTPresentationFormat) throws {
        let octets = try value(of: run(.read(4), [("0A 04 00", "0B " + octets)]))
        let decoded = try GATTPresentationFormat(decoding: octets.span)
        #expect(decoded == format)
        #expect(written { format.encode(into: &$0) } == octets)
    }

    @Test("GATT/CL/GPA/BV-11: a client reads which formats the parts of a value have, and each of them")
    func aggregate() throws {
        let octets = try value(of: run(.read(10), [("0A 0A 00", "0B 04 00 07 00")]))
        let aggregate = try GATTAggregateFormat(decoding: octets.span)
        #expect(aggregate.formats == [4, 7])
        for (handle, (octets, format)) in zip(aggregate.formats, Self.formats) {
            let request = "0A \(hexadecimal(UInt8(handle.rawValue))) 00"
            let part = try value(of: run(.read(handle), [(request, "0B " + octets)]))
            let decoded = try GATTPresentationFormat(decoding: part.span)
            #expect(decoded == format)
        }
    }

    @Test("What has another length is none", arguments: ["", "04 00 AD 27 01 01", "04 00 AD 27 01 01 01 00"])
    func malformed(octets: String) {
        let value = bytes(octets)
        #expect(throws: DecodingFailure.self) { try GATTPresentationFormat(decoding: value.span) }
        #expect(value.count % 2 == 0 || isNoAggregate(value))
    }

    private func isNoAggregate(_ value: [UInt8]) -> Bool { (try? GATTAggregateFormat(decoding: value.span)) == nil }

    private func value(of result: Result<GATTClientResult, GATTClientError>) throws -> [UInt8] {
        guard case .value(let value) = try result.get() else { throw GATTClientError.cancelled }
        return value
    }
}
