import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

@Suite("GATT client: errors of each request")
struct ClientErrorTests {
    private static let first = counting(22).hexadecimal(), part = counting(18).hexadecimal()
    private static let long = GATTClientOperation.readLong(3)
    private static let queued = GATTClientOperation.writeLong(3, counting(19))
    private static let whole = ("0A 03 00", "0B " + first)
    private static let prepared = ("16 03 00 00 00 " + part, "17 03 00 00 00 " + part)

    private func check(
        _ name: String, _ operation: GATTClientOperation, before: [Exchange], request: String, code: UInt8,
        after: [Exchange] = []
    ) throws {
        let opcode = bytes(request)[0]
        let response = "01 \(hexadecimal(opcode)) 03 00 \(hexadecimal(code))"
        let result = try run(operation, before + [(request, response)] + after)
        let error = ATTError(requestOpcode: opcode, handle: 3, code: ATTErrorCode(rawValue: code))
        #expect(result == .failure(.att(error)), "\(name)")
    }

    @Test(
        "A server's error is reported unchanged",
        arguments: [
            ("GAR/BI-01", .read(3), "0A 03 00", 0x01), ("GAR/BI-02", .read(3), "0A 03 00", 0x02),
            ("GAR/BI-03", .read(3), "0A 03 00", 0x08), ("GAR/BI-04", .read(3), "0A 03 00", 0x05),
            ("GAR/BI-05", .read(3), "0A 03 00", 0x0C), ("GAR/BI-35", .read(3), "0A 03 00", 0x80),
            ("GAR/BI-35", .read(3), "0A 03 00", 0x9F),
            ("GAR/BI-06", .readByUUID("2A00"), "08 01 00 FF FF 00 2A", 0x02),
            ("GAR/BI-07", .readByUUID("2A00"), "08 01 00 FF FF 00 2A", 0x0A),
            ("GAR/BI-09", .readByUUID("2A00"), "08 01 00 FF FF 00 2A", 0x08),
            ("GAR/BI-10", .readByUUID("2A00"), "08 01 00 FF FF 00 2A", 0x05),
            ("GAR/BI-11", .readByUUID("2A00"), "08 01 00 FF FF 00 2A", 0x0C),
            ("GAR/BI-12", long, "0A 03 00", 0x02), ("GAR/BI-14", long, "0A 03 00", 0x01),
            ("GAR/BI-15", long, "0A 03 00", 0x08), ("GAR/BI-16", long, "0A 03 00", 0x05),
            ("GAR/BI-17", long, "0A 03 00", 0x0C), ("GAR/BI-13", .readLong(3, offset: 50), "0C 03 00 32 00", 0x07),
            ("GAR/BI-18", .readMultiple([3, 4]), "0E 03 00 04 00", 0x02),
            ("GAR/BI-19", .readMultiple([3, 4]), "0E 03 00 04 00", 0x01),
            ("GAR/BI-20", .readMultiple([3, 4]), "0E 03 00 04 00", 0x08),
            ("GAR/BI-21", .readMultiple([3, 4]), "0E 03 00 04 00", 0x05),
            ("GAR/BI-22", .readMultiple([3, 4]), "0E 03 00 04 00", 0x0C),
            ("GAR/BI-36", .readMultipleVariable([3, 4]), "20 03 00 04 00", 0x02),
            ("GAR/BI-38", .readMultipleVariable([3, 4]), "20 03 00 04 00", 0x01),
            ("GAR/BI-40", .readMultipleVariable([3, 4]), "20 03 00 04 00", 0x08),
            ("GAR/BI-42", .readMultipleVariable([3, 4]), "20 03 00 04 00", 0x05),
            ("GAR/BI-44", .readMultipleVariable([3, 4]), "20 03 00 04 00", 0x0C),
            ("GAW/BI-02", .write(3, [1]), "12 03 00 01", 0x01), ("GAW/BI-03", .write(3, [1]), "12 03 00 01", 0x03),
            ("GAW/BI-04", .write(3, [1]), "12 03 00 01", 0x08), ("GAW/BI-05", .write(3, [1]), "12 03 00 01", 0x05),
            ("GAW/BI-06", .write(3, [1]), "12 03 00 01", 0x0C),
            ("GAW/BI-07", queued, "16 03 00 00 00 " + part, 0x01),
            ("GAW/BI-08", queued, "16 03 00 00 00 " + part, 0x03),
            ("GAW/BI-11", queued, "16 03 00 00 00 " + part, 0x08),
            ("GAW/BI-12", queued, "16 03 00 00 00 " + part, 0x05),
            ("GAW/BI-13", queued, "16 03 00 00 00 " + part, 0x0C),
        ] as [(String, GATTClientOperation, String, UInt8)])
    func reported(_ name: String, _ operation: GATTClientOperation, _ request: String, _ code: UInt8) throws {
        try check(name, operation, before: [], request: request, code: code)
    }

    @Test("GAR/BI-34: the error for an LE-only value is reported over BR/EDR, where no MTU is exchanged")
    func reportedOverBREDR() throws {
        var harness = ClientHarness()
        harness.bearer = ATTBearer(brEDRChannelMTU: 672)
        let (exchange, nothing) = try harness.start(.exchangeMTU(clientRxMTU: 517))
        #expect(nothing == [])
        #expect(harness.takeEvents() == [.completed(exchange, .mtu(672))])
        let (read, request) = try harness.start(.read(3))
        #expect(request == bytes("0A 03 00"))
        harness.receive(bytes("01 0A 03 00 80"))
        let error = ATTError(requestOpcode: 0x0A, handle: 3, code: ATTErrorCode(rawValue: 0x80))
        #expect(harness.takeEvents() == [.failed(read, .att(error))])
    }

    @Test(
        "An error in the middle of a long value is reported",
        arguments: [0x01, 0x02, 0x05, 0x08, 0x0C, 0x12] as [UInt8])
    func halfway(code: UInt8) throws {
        try check("", Self.long, before: [Self.whole], request: "0C 03 00 16 00", code: code)
        try check(
            "", Self.queued, before: [Self.prepared], request: "16 03 00 12 00 12", code: code, after: [("18 00", "19")]
        )
    }

    @Test("GAW/BI-09: an error for the execution is reported", arguments: [0x07, 0x0D] as [UInt8])
    func executed(code: UInt8) throws {
        let rest = ("16 03 00 12 00 12", "17 03 00 12 00 12")
        try check("", Self.queued, before: [Self.prepared, rest], request: "18 01", code: code)
    }

    @Test(
        "Client Supported Features are found, and enabled: robust caching, enhanced bearers, notifications of several values",
        arguments: [
            ("GAS/BV-03", GATTClientSupportedFeatures.robustCaching, "01"), ("GAS/BV-04", .enhancedATTBearer, "02"),
            ("GAS/BV-05", .multipleHandleValueNotifications, "04"),
        ])
    func features(_ name: String, _ features: GATTClientSupportedFeatures, _ octet: String) throws {
        let found = try run(
            .readByUUID(.clientSupportedFeatures),
            // There is one at most.
            [("08 01 00 FF FF 29 2B", "09 03 06 00 00")])
        #expect(found == .success(.values([AttributeValue(handle: 6, value: [0])])))
        #expect(try run(.write(6, [features.rawValue]), [("12 06 00 " + octet, "13")]) == .success(.written))
    }

    @Test(
        "GAT/BV-01 to BV-03: 30 seconds without a response end the bearer",
        arguments: [
            (.read(3), "0A 03 00"), (.write(3, [1]), "12 03 00 01"), (.readMultipleVariable([3, 4]), "20 03 00 04 00"),
        ] as [(GATTClientOperation, String)])
    func timeout(_ operation: GATTClientOperation, _ request: String) throws {
        var harness = ClientHarness()
        let (id, sent) = try harness.start(operation)
        #expect(sent == bytes(request))
        let end = Instant.zero.advanced(by: .seconds(30))
        #expect(harness.client.fire(bearer: &harness.bearer, at: end.advanced(by: .milliseconds(-1))) == nil)
        #expect(harness.client.fire(bearer: &harness.bearer, at: end) != nil)
        #expect(harness.takeEvents() == [.failed(id, .transactionTimedOut)])
        #expect(harness.bearer.isDead)
        // The request is not repeated, and no other follows.
        #expect(harness.client.pendingCount == 0 && harness.bearer.nextDeadline == nil)
        #expect(throws: GATTClientError.transactionTimedOut) { try harness.start(operation) }
    }
}
