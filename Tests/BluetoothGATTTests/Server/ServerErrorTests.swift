import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

/// Each error of each request, over a link that is encrypted with a key of 7 octets from a pairing that just worked:
///
///     0003 2A00, nobody may read or write        0005 2A01, needs authentication
///     0007 2A02, needs a key of 16 octets        0009 2A03, needs the application's consent
///     000B 2A04, four octets, anybody may read and write
///     000C Characteristic User Description "Place"
///     000E 2A05, anybody may read and write
///
/// All values but that of 2A04 are long: 40 octets.
@Suite("GATT server: errors of each request")
struct ServerErrorTests {
    private func bench() throws -> ServerBench {
        func value(
            _ uuid: UInt16, _ permissions: GATTPermissions, octets: [UInt8] = counting(40)
        ) -> GATTCharacteristicDefinition {
            .init(
                uuid: .init(uuid), properties: [.read, .write], permissions: permissions,
                value: .fixedLength(octets), descriptors: uuid == 0x2A04 ? [.userDescription("Place")] : [])
        }
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [
                    value(0x2A00, .init()), value(0x2A01, .init(read: .authenticated, write: .authenticated)),
                    value(0x2A02, .init(read: .encrypted, write: .encrypted, minimumEncryptionKeySize: 16)),
                    value(
                        0x2A03,
                        .init(read: .open, write: .open, readNeedsAuthorization: true, writeNeedsAuthorization: true)),
                    value(0x2A04, .init(read: .open, write: .open), octets: [1, 2, 3, 4]),
                    value(0x2A05, .init(read: .open, write: .open)),
                ]))
        var bench = ServerBench(database)
        bench.security = LinkSecurity(isEncrypted: true, encryptionKeySize: 7)
        return bench
    }

    @Test(
        "Errors for reading",
        arguments: [
            ("GAR/BI-01", "0A 03 00", "01 0A 03 00 02"), ("GAR/BI-02", "0A 20 00", "01 0A 20 00 01"),
            ("GAR/BI-03", "0A 09 00", "01 0A 09 00 08"), ("GAR/BI-04", "0A 05 00", "01 0A 05 00 05"),
            ("GAR/BI-05", "0A 07 00", "01 0A 07 00 0C"),
            ("GAR/BI-06", "08 01 00 FF FF 00 2A", "01 08 03 00 02"),
            ("GAR/BI-07", "08 01 00 FF FF 99 2A", "01 08 01 00 0A"),
            ("GAR/BI-08", "08 00 00 FF FF 04 2A", "01 08 00 00 01"),
            ("GAR/BI-08", "08 05 00 04 00 04 2A", "01 08 05 00 01"),
            ("GAR/BI-08", "08 02 00 01 00 00 28", "01 08 02 00 01"),
            ("GAR/BI-09", "08 01 00 FF FF 03 2A", "01 08 09 00 08"),
            ("GAR/BI-10", "08 01 00 FF FF 01 2A", "01 08 05 00 05"),
            ("GAR/BI-11", "08 01 00 FF FF 02 2A", "01 08 07 00 0C"),
            ("GAR/BI-12", "0C 03 00 00 00", "01 0C 03 00 02"), ("GAR/BI-13", "0C 0E 00 29 00", "01 0C 0E 00 07"),
            ("GAR/BI-14", "0C 20 00 00 00", "01 0C 20 00 01"), ("GAR/BI-15", "0C 09 00 00 00", "01 0C 09 00 08"),
            ("GAR/BI-16", "0C 05 00 00 00", "01 0C 05 00 05"), ("GAR/BI-17", "0C 07 00 00 00", "01 0C 07 00 0C"),
            ("the rest of a value", "0C 03 00 16 00", "01 0C 03 00 02"),
            ("the rest of a value", "0C 05 00 16 00", "01 0C 05 00 05"),
            ("behind a short value", "0C 0B 00 05 00", "01 0C 0B 00 07"),
            ("behind a descriptor", "0C 0C 00 06 00", "01 0C 0C 00 07"),
            ("GAR/BI-18", "0E 0B 00 03 00", "01 0E 03 00 02"), ("GAR/BI-19", "0E 0B 00 20 00", "01 0E 20 00 01"),
            ("GAR/BI-20", "0E 0B 00 09 00", "01 0E 09 00 08"), ("GAR/BI-21", "0E 0B 00 05 00", "01 0E 05 00 05"),
            ("GAR/BI-22", "0E 0B 00 07 00", "01 0E 07 00 0C"),
            ("GAR/BI-36", "20 0B 00 03 00", "01 20 03 00 02"), ("GAR/BI-38", "20 0B 00 20 00", "01 20 20 00 01"),
            ("GAR/BI-40", "20 0B 00 09 00", "01 20 09 00 08"), ("GAR/BI-42", "20 0B 00 05 00", "01 20 05 00 05"),
            ("GAR/BI-44", "20 0B 00 07 00", "01 20 07 00 0C"),
        ])
    func reading(_ name: String, _ request: String, _ response: String) throws {
        try check(name, request, response)
        // Insufficient Authentication is also the answer over a link that is not encrypted at all.
        if response.hasSuffix("05") { try check(name, request, response, over: .unprotected) }
    }

    @Test(
        "Errors for writing",
        arguments: [
            ("GAW/BI-02", "12 20 00 01", "01 12 20 00 01"), ("GAW/BI-03", "12 03 00 01", "01 12 03 00 03"),
            ("GAW/BI-04", "12 09 00 01", "01 12 09 00 08"), ("GAW/BI-05", "12 05 00 01", "01 12 05 00 05"),
            ("GAW/BI-06", "12 07 00 01", "01 12 07 00 0C"),
            ("GAW/BI-07", "16 20 00 00 00 01", "01 16 20 00 01"), ("GAW/BI-08", "16 03 00 00 00 01", "01 16 03 00 03"),
            ("GAW/BI-11", "16 09 00 00 00 01", "01 16 09 00 08"), ("GAW/BI-12", "16 05 00 00 00 01", "01 16 05 00 05"),
            ("GAW/BI-13", "16 07 00 00 00 01", "01 16 07 00 0C"),
            ("GAW/BI-32", "12 0B 00 01 02 03 04 05", "01 12 0B 00 0D"),
        ])
    func writing(_ name: String, _ request: String, _ response: String) throws {
        try check(name, request, response)
        if response.hasSuffix("05") { try check(name, request, response, over: .unprotected) }
    }

    @Test(
        "Queued writes are rejected when they are executed",
        arguments: [
            ("GAW/BI-09", ["16 0E 00 29 00 01"], "01 18 0E 00 07"),
            ("GAW/BI-09", ["16 0B 00 05 00 01"], "01 18 0B 00 07"),
            ("GAW/BI-33", ["16 0B 00 00 00 01 02 03", "16 0B 00 03 00 04 05"], "01 18 0B 00 0D"),
            ("GAW/BI-33", ["16 0E 00 00 00 01 02 03", "16 0E 00 26 00 04 05 06"], "01 18 0E 00 0D"),
        ])
    func executing(_ name: String, _ requests: [String], _ response: String) throws {
        var bench = try bench()
        for request in requests { #expect(bench.send(request) == "17" + request.dropFirst(2), "\(name)") }
        #expect(bench.send("18 01") == response, "\(name)")
        #expect(isUnchanged(bench))
        #expect(bench.send("0A 0B 00") == "0B 01 02 03 04")
    }

    @Test(
        "GAW/BI-39: a command that may not write its attribute is ignored",
        arguments: [
            ("52 0B 00 01 02 03 04 05", 0x0D), ("52 20 00 01", 0x01), ("52 03 00 01", 0x03), ("52 05 00 01", 0x05),
            ("52 07 00 01", 0x0C),
        ] as [(String, UInt8)])
    func commands(_ command: String, _ code: UInt8) throws {
        var bench = try bench()
        #expect(bench.send("0A 0B 00") == "0B 01 02 03 04")
        #expect(bench.send(command) == "")
        #expect(bench.outcome == .dropped(.refused(ATTErrorCode(rawValue: code))))
        #expect(isUnchanged(bench))
        #expect(bench.send("0A 0B 00") == "0B 01 02 03 04")
    }

    @Test("GAR/BI-34: the application refuses to serve a value over LE, and it is read over BR/EDR")
    func otherTransport() throws {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [.init(uuid: .init(0x2A00), properties: .read, value: .dynamic)]))
        var bench = ServerBench(database)
        let brEDR = bench.endpoint.open(ATTBearer(brEDRChannelMTU: 48))
        for (request, response) in [("0A 03 00", "0B 01"), ("08 01 00 FF FF 00 2A", "09 03 03 00 01")] {
            #expect(bench.send(request) == "")
            let token = try #require(bench.token)
            #expect(token.channel == .first)
            let opcode = String(request.prefix(2))
            #expect(try bench.refuse(token, ATTErrorCode(rawValue: 0x80)) == "01 \(opcode) 03 00 80")
            #expect(bench.send(request, on: brEDR) == "")
            #expect(try bench.answer(bench.token, "01") == response)
        }
    }

    @Test("A value that nobody may read is refused with the error in its permissions")
    func readError() throws {
        var database = GATTDatabase()
        var permissions = GATTPermissions()
        permissions.readError = ATTErrorCode(rawValue: 0x80)
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [
                    .init(uuid: .init(0x2A00), properties: .read, permissions: permissions, value: .constant([1]))
                ]))
        var bench = ServerBench(database)
        bench.security = LinkSecurity(
            isEncrypted: true, isAuthenticated: true, usesSecureConnections: true, encryptionKeySize: 16)
        #expect(bench.send("0A 03 00") == "01 0A 03 00 80")
        #expect(bench.send("0C 03 00 00 00") == "01 0C 03 00 80")
        #expect(bench.send("08 01 00 FF FF 00 2A") == "01 08 03 00 80")
    }

    @Test("GAR/BI-35: the application refuses to serve a value over BR/EDR, and it is read over LE")
    func otherTransportOverBREDR() throws {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [.init(uuid: .init(0x2A00), properties: .read, value: .dynamic)]))
        var bench = ServerBench(database)
        let brEDR = bench.endpoint.open(ATTBearer(brEDRChannelMTU: 48))
        for (request, response) in [("0A 03 00", "0B 01"), ("08 01 00 FF FF 00 2A", "09 03 03 00 01")] {
            #expect(bench.send(request) == "")
            #expect(try bench.answer(bench.token, "01") == response)
            #expect(bench.send(request, on: brEDR) == "")
            let token = try #require(bench.token)
            #expect(token.channel == brEDR)
            let opcode = String(request.prefix(2))
            #expect(try bench.refuse(token, ATTErrorCode(rawValue: 0x80)) == "01 \(opcode) 03 00 80")
        }
    }

    /// Where the application is asked, it refuses.
    private func check(
        _ name: String, _ request: String, _ response: String, over security: LinkSecurity? = nil
    ) throws {
        var bench = try bench()
        if let security { bench.security = security }
        var sent = bench.send(request)
        if case .authorizationRequested(let token, _, _) = bench.outcome {
            #expect(sent == "")
            sent = try bench.refuse(token, .insufficientAuthorization)
        }
        #expect(sent == response, "\(name)")
        #expect(isUnchanged(bench))
        // The bearer lives on.
        #expect(bench.send("0A 0B 00") == "0B 01 02 03 04")
    }

    /// Whether all values are those of the beginning.
    private func isUnchanged(_ bench: ServerBench) -> Bool {
        let database = bench.server.database
        return database.value(of: 0x000B) == [1, 2, 3, 4]
            && ([3, 5, 7, 9, 0x0E] as [AttributeHandle]).allSatisfy { database.value(of: $0) == counting(40) }
    }
}
