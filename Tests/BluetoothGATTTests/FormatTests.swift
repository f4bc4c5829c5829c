import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("Characteristic Presentation Format and Aggregate Format (Vol 3, Part G, 3.3.3.5 and 3.3.3.6)")
struct FormatTests {
    // MARK: - Servers

    @Test(
        "GATT/SR/GPA/BV-12: a client finds and reads a value and its format, and cannot write the format",
        arguments: FormatSample.all, FormatSample.exponents)
    func served(_ sample: FormatSample, _ exponent: Int8) throws {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: "F000",
                characteristics: [
                    .init(
                        uuid: "F001", properties: .read, value: .constant(bytes(sample.octets)),
                        descriptors: [.presentationFormat(sample.presentation(exponent: exponent))])
                ]))
        var bench = ServerBench(database)
        let descriptor = sample.descriptor(exponent: exponent)
        #expect(bench.send("08 01 00 04 00 03 28") == "09 07 02 00 02 03 00 01 F0")
        #expect(bench.send("04 04 00 04 00") == "05 01 04 00 04 29")
        #expect(bench.send("08 01 00 FF FF 04 29") == "09 09 04 00 " + descriptor)
        #expect(bench.send("0A 04 00") == "0B " + descriptor)
        #expect(bench.send("0A 03 00") == "0B " + sample.octets)
        #expect(bench.send("12 04 00 00") == "01 12 04 00 03")
    }

    @Test(
        "GATT/SR/GPA/BV-11: a client reads an aggregate format, the format of each part, and the value",
        arguments: FormatSample.aggregates)
    func servedAggregate(_ formats: [UInt8]) throws {
        let samples = FormatSample.samples(formats)
        let value = bytes(samples.map(\.octets).joined(separator: " "))
        // Each part has three handles: a declaration, its value, and its format.
        let handles = samples.indices.map { 3 * $0 + 4 }
        let list = GATTAggregateFormat(formats: handles.map { AttributeHandle(UInt16($0)) })
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: "F000",
                characteristics: samples.enumerated().map { index, sample in
                    .init(
                        uuid: "F001", properties: .read, value: .constant(bytes(sample.octets)),
                        descriptors: [.presentationFormat(sample.presentation(exponent: Int8(index)))])
                } + [
                    .init(
                        uuid: "F002", properties: .read, value: .constant(value), descriptors: [.aggregateFormat(list)])
                ]))
        var bench = ServerBench(database)
        let whole = 3 * samples.count + 3, length = hexadecimal(2 * samples.count + 2)
        let octets = handles.map(littleEndian).joined(separator: " ")
        #expect(bench.send("08 01 00 FF FF 05 29") == "09 \(length) \(littleEndian(whole + 1)) \(octets)")
        #expect(bench.send("0A " + littleEndian(whole + 1)) == "0B " + octets)
        for (index, handle) in handles.enumerated() {
            #expect(
                bench.send("0A " + littleEndian(handle)) == "0B " + samples[index].descriptor(exponent: Int8(index)))
        }
        #expect(bench.send("0A " + littleEndian(whole)) == "0B " + value.prefix(22).hexadecimal())
        for offset in stride(from: 22, to: value.count, by: 22) {
            let part = value[offset..<min(offset + 22, value.count)].hexadecimal()
            #expect(bench.send("0C \(littleEndian(whole)) \(littleEndian(offset))") == "0D " + part)
        }
        #expect(bench.send("12 \(littleEndian(whole + 1)) 00") == "01 12 \(littleEndian(whole + 1)) 03")
    }

    // MARK: - Clients

    @Test(
        "GATT/CL/GPA/BV-12: a client finds and reads a value and its format, and gets the scaled number",
        arguments: FormatSample.all, FormatSample.exponents)
    func read(_ sample: FormatSample, _ exponent: Int8) throws {
        let found = try run(
            .discoverCharacteristics(in: 0x0001...0x0004), [("08 01 00 04 00 03 28", "09 07 02 00 02 03 00 01 F0")])
        let characteristic = DiscoveredCharacteristic(
            uuid: "F001", declarationHandle: 2, valueHandle: 3, endHandle: 4, properties: .read)
        #expect(found == .success(.characteristics([characteristic])))
        let descriptors = try run(
            .discoverDescriptors(in: 0x0004...0x0004), [("04 04 00 04 00", "05 01 04 00 04 29")])
        #expect(
            descriptors
                == .success(.descriptors([DiscoveredDescriptor(uuid: .characteristicPresentationFormat, handle: 4)])))
        let value = try self.value(of: run(.read(3), [("0A 03 00", "0B " + sample.octets)]))
        let octets = try self.value(of: run(.read(4), [("0A 04 00", "0B " + sample.descriptor(exponent: exponent))]))
        let format = try GATTPresentationFormat(decoding: octets.span)
        #expect(format == sample.presentation(exponent: exponent))
        #expect(written { format.encode(into: &$0) } == octets)
        let formatted = GATTFormattedValue(octets: value, format: format)
        #expect(formatted.octets == bytes(sample.octets))
        #expect(formatted.number == sample.scaled(by: exponent))
    }

    @Test(
        "GATT/CL/GPA/BV-11: a client reads a value and the formats of its parts, and splits it into them",
        arguments: FormatSample.aggregates)
    func aggregate(_ formats: [UInt8]) throws {
        let samples = FormatSample.samples(formats)
        // The aggregate is at 0003 with its descriptor at 0004, and the formats are at 0010 and behind that.
        let handles = samples.indices.map { AttributeHandle(UInt16(0x10 + $0)) }
        let descriptors = try run(
            .discoverDescriptors(in: 0x0004...0x0004), [("04 04 00 04 00", "05 01 04 00 05 29")])
        #expect(
            descriptors
                == .success(.descriptors([DiscoveredDescriptor(uuid: .characteristicAggregateFormat, handle: 4)])))
        let list = handles.map { littleEndian(Int($0.rawValue)) }.joined(separator: " ")
        let octets = try self.value(of: run(.read(4), [("0A 04 00", "0B " + list)]))
        let aggregate = try GATTAggregateFormat(decoding: octets.span)
        #expect(aggregate.formats == handles)
        var presentations: [GATTPresentationFormat] = []
        for (index, sample) in samples.enumerated() {
            let exchange = (
                "0A \(hexadecimal(0x10 + index)) 00", "0B " + sample.descriptor(exponent: Int8(3 * index - 4))
            )
            let octets = try self.value(of: run(.read(handles[index]), [exchange]))
            presentations.append(try GATTPresentationFormat(decoding: octets.span))
        }
        let whole = bytes(samples.map(\.octets).joined(separator: " "))
        let value = try self.value(of: run(.readLong(3), Self.reads(of: whole)))
        let parts = try #require(aggregate.parts(of: value, formats: presentations))
        #expect(parts.map(\.octets) == samples.map { bytes($0.octets) })
        #expect(parts.map(\.format) == presentations)
        for (index, sample) in samples.enumerated() {
            #expect(parts[index].number == sample.scaled(by: Int8(3 * index - 4)))
        }
    }

    /// The requests and responses of a long read of handle 3.
    private static func reads(of value: [UInt8]) -> [Exchange] {
        stride(from: 0, through: value.count, by: 22).map { offset in
            let part = value[offset..<min(offset + 22, value.count)].hexadecimal()
            return offset == 0 ? ("0A 03 00", "0B " + part) : ("0C 03 00 " + littleEndian(offset), "0D " + part)
        }
    }

    // MARK: - Values

    @Test(
        "The special values of medical numbers are NaN or infinite",
        arguments: [
            (0x16, "FF 07", Double.nan), (0x16, "00 08", .nan), (0x16, "01 08", .nan), (0x16, "FE 07", .infinity),
            (0x16, "02 08", -.infinity), (0x16, "FE 17", 20460), (0x17, "FF FF 7F 00", .nan),
            (0x17, "00 00 80 00", .nan), (0x17, "FE FF 7F 00", .infinity), (0x17, "02 00 80 00", -.infinity),
        ] as [(UInt8, String, Double)])
    func special(_ format: UInt8, _ octets: String, _ expected: Double) throws {
        let value = GATTFormattedValue(octets: bytes(octets), format: GATTPresentationFormat(format: format))
        let number = try #require(value.number)
        #expect(number == expected || number.isNaN && expected.isNaN)
    }

    @Test("Bits beyond the width of a format are ignored, and a value of the wrong length has no number")
    func width() {
        func number(_ format: UInt8, _ octets: String, _ exponent: Int8 = 0) -> Double? {
            let format = GATTPresentationFormat(format: format, exponent: exponent)
            return GATTFormattedValue(octets: bytes(octets), format: format).number
        }
        #expect(number(0x01, "FF") == 1)
        #expect(number(0x05, "34 F2") == 564)
        #expect(number(0x0D, "FF 7F") == -1)
        #expect(number(0x0E, "D0 F8", -2) == -18.4)
        for octets in ["", "01 02 03"] { #expect(number(0x06, octets) == nil) }
        for format in [0x00, 0x19, 0x1C, 0xFF] as [UInt8] { #expect(number(format, "01") == nil) }
    }

    @Test("A value whose length does not match its formats has no parts; a string at the end may have any length")
    func parts() {
        let aggregate = GATTAggregateFormat(formats: [4, 7])
        let percentage = GATTPresentationFormat(format: 0x04), text = GATTPresentationFormat(format: 0x19)
        func octets(_ value: [UInt8], _ formats: [GATTPresentationFormat]) -> [[UInt8]]? {
            aggregate.parts(of: value, formats: formats)?.map(\.octets)
        }
        #expect(octets([1, 2], [percentage, percentage]) == [[1], [2]])
        #expect(octets([1, 2, 3], [percentage, text]) == [[1], [2, 3]])
        #expect(octets([1], [percentage, text]) == [[1], []])
        for value in [[], [1], [1, 2, 3]] as [[UInt8]] { #expect(octets(value, [percentage, percentage]) == nil) }
        #expect(octets([1, 2], [text, percentage]) == nil)
        for formats in [[], [percentage]] { #expect(octets([1], formats) == nil) }
    }

    @Test(
        "A descriptor of the wrong length is rejected",
        arguments: ["", "04 00 AD 27 01 01", "04 00 AD 27 01 01 01 00"])
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
