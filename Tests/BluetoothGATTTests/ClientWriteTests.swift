import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("GATT client: writing")
struct ClientWriteTests {
    @Test("GATT/CL/GAW/BV-03, BV-08: a value or descriptor is written", arguments: ["", "01", "00 01 02 03"])
    func write(value: String) throws {
        let request = value.isEmpty ? "12 03 00" : "12 03 00 " + value
        #expect(try run(.write(0x0003, bytes(value)), [(request, "13")]) == .success(.written))
    }

    @Test(
        "GATT/CL/GAW/BI-02 and others: the server's error is reported to the caller",
        arguments: [0x01, 0x03, 0x0D, 0xFC])
    func refused(code: UInt8) throws {
        let result = try run(.write(0x0003, [1]), [("12 03 00 01", "01 12 03 00 " + hexadecimal(code))])
        let error = ATTError(requestOpcode: 0x12, handle: 3, code: ATTErrorCode(rawValue: code))
        #expect(result == .failure(.att(error)))
    }

    @Test("a value that is too long to write fails without a request")
    func tooLong() throws {
        #expect(
            try run(.write(0x0003, counting(20)), [("12 03 00 " + counting(20).hexadecimal(), "13")])
                == .success(.written))
        #expect(try run(.write(0x0003, counting(21)), []) == .failure(.valueTooLong(maximum: 20)))
        #expect(try run(.writeLong(0x0003, counting(513)), []) == .failure(.valueTooLong(maximum: 512)))
    }

    @Test(
        "subscribing and unsubscribing write the Client Characteristic Configuration",
        arguments: [
            (GATTClientConfiguration.notifications, "01 00"), (.indications, "02 00"), ([], "00 00"),
            ([.notifications, .indications], "03 00"),
        ] as [(GATTClientConfiguration, String)])
    func configure(configuration: GATTClientConfiguration, value: String) throws {
        let result = try run(.configure(descriptor: 0x0004, configuration), [("12 04 00 " + value, "13")])
        #expect(result == .success(.written))
    }

    @Test("GATT/CL/GAW/BV-05, BV-09: a long value is prepared in parts, then executed")
    func writeLong() throws {
        let value = counting(40)
        let parts = [value[0..<18], value[18..<36], value[36..<40]].map { $0.hexadecimal() }
        let script: [Exchange] = [
            ("16 03 00 00 00 " + parts[0], "17 03 00 00 00 " + parts[0]),
            ("16 03 00 12 00 " + parts[1], "17 03 00 12 00 " + parts[1]),
            ("16 03 00 24 00 " + parts[2], "17 03 00 24 00 " + parts[2]),
            ("18 01", "19"),
        ]
        #expect(try run(.writeLong(0x0003, value), script) == .success(.written))
    }

    @Test func `a long write from an offset on prepares parts with later offsets`() throws {
        let script: [Exchange] = [
            ("16 03 00 05 00 " + counting(18).hexadecimal(), "17 03 00 05 00 " + counting(18).hexadecimal()),
            ("16 03 00 17 00 12", "17 03 00 17 00 12"), ("18 01", "19"),
        ]
        #expect(try run(.writeLong(0x0003, counting(19), offset: 5), script) == .success(.written))
    }

    @Test(arguments: [(500, 12), (512, 0), (600, 0)])
    func `a long write from an offset on ends at octet 512 at the latest`(_ offset: UInt16, _ maximum: Int) throws {
        let result = try run(.writeLong(0x0003, counting(maximum + 1), offset: offset), [])
        #expect(result == .failure(.valueTooLong(maximum: maximum)))
    }

    @Test("a long write of an empty value is also prepared and executed")
    func writeLongEmpty() throws {
        let script: [Exchange] = [("16 03 00 00 00", "17 03 00 00 00"), ("18 01", "19")]
        #expect(try run(.writeLong(0x0003, []), script) == .success(.written))
    }

    @Test("GATT/CL/GAW/BV-06: several values are written reliably, with one execution")
    func writeReliably() throws {
        let script: [Exchange] = [
            ("16 03 00 00 00 01 02", "17 03 00 00 00 01 02"), ("16 05 00 00 00 03", "17 05 00 00 00 03"),
            ("18 01", "19"),
        ]
        let values = [AttributeValue(handle: 3, value: [1, 2]), AttributeValue(handle: 5, value: [3])]
        #expect(try run(.writeReliably(values), script) == .success(.written))
        #expect(try run(.writeReliably([]), []) == .failure(.invalidHandleCount(allowed: 1...Int.max)))
    }

    @Test
    func `a reliable write from an offset on leaves the octets before it`() throws {
        let script: [Exchange] = [("16 03 00 05 00 01 02", "17 03 00 05 00 01 02"), ("18 01", "19")]
        let values = [AttributeValue(handle: 3, value: [1, 2])]
        #expect(try run(.writeReliably(values, offset: 5), script) == .success(.written))
    }

    @Test(
        "a mismatched echo cancels the prepared writes, and the operation fails",
        arguments: ["17 03 00 00 00 01 03", "17 03 00 00 00 01", "17 03 00 01 00 01 02", "17 04 00 00 00 01 02"])
    func echoMismatch(echo: String) throws {
        let script: [Exchange] = [("16 03 00 00 00 01 02", echo), ("18 00", "19")]
        let values = [AttributeValue(handle: 3, value: [1, 2])]
        #expect(try run(.writeReliably(values), script) == .failure(.invalidResponse(.echoMismatch)))
    }

    @Test("a long write that is not reliable ignores the echo")
    func echoIgnored() throws {
        let script: [Exchange] = [("16 03 00 00 00 01 02", "17 03 00 00 00 FF"), ("18 01", "19")]
        #expect(try run(.writeLong(0x0003, [1, 2]), script) == .success(.written))
    }

    @Test(
        "an error after a prepared part cancels the prepared writes; the first error is reported",
        arguments: ["19", "01 18 00 00 0E"])
    func refusedHalfway(answer: String) throws {
        let first = counting(18).hexadecimal()
        let script: [Exchange] = [
            ("16 03 00 00 00 " + first, "17 03 00 00 00 " + first), ("16 03 00 12 00 12", "01 16 03 00 09"),
            ("18 00", answer),
        ]
        let error = ATTError(.prepareQueueFull, for: .prepareWriteRequest, at: 3)
        #expect(try run(.writeLong(0x0003, counting(19)), script) == .failure(.att(error)))
    }

    @Test("an error for the first part, or for the execution, leaves nothing to cancel")
    func refusedAtEitherEnd() throws {
        #expect(
            try run(.writeLong(0x0003, [1]), [("16 03 00 00 00 01", "01 16 03 00 03")])
                == .failure(.att(ATTError(.writeNotPermitted, for: .prepareWriteRequest, at: 3))))
        let script: [Exchange] = [("16 03 00 00 00 01", "17 03 00 00 00 01"), ("18 01", "01 18 03 00 0D")]
        #expect(
            try run(.writeLong(0x0003, [1]), script)
                == .failure(.att(ATTError(.invalidAttributeValueLength, for: .executeWriteRequest, at: 3))))
    }

    @Test("GATT/CL/GAW/BV-01: a Write Command of up to ATT_MTU - 3 octets is sent while a request is in flight")
    func writeCommand() throws {
        var harness = ClientHarness()
        _ = try harness.start(.read(0x0003))
        var writer = ByteWriter()
        let value = counting(21)
        try harness.client.writeCommand(
            0x0005, value: value.span.extracting(0..<20), bearer: harness.bearer, into: &writer)
        #expect(writer.bytes == bytes("52 05 00") + value.prefix(20))
        #expect(throws: GATTClientError.valueTooLong(maximum: 20)) {
            try harness.client.writeCommand(0x0005, value: value.span, bearer: harness.bearer, into: &writer)
        }
        #expect(writer.count == 23)
    }
}
