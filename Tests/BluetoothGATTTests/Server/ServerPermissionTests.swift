import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

@Suite("GATT server: permissions")
struct ServerPermissionTests {
    /// A link, and the error it gets from an attribute that asks for something.
    struct Row: CustomTestStringConvertible, Sendable {
        var name: String
        var permissions: GATTPermissions
        var link: LinkSecurity
        /// 0 where access is granted. The errors of reading and writing differ only where nobody may.
        var readError: UInt8
        var writeError: UInt8
        var testDescription: String { name }

        init(_ name: String, _ permissions: GATTPermissions, _ link: LinkSecurity, read: UInt8, write: UInt8? = nil) {
            self.name = name
            self.permissions = permissions
            self.link = link
            readError = read
            writeError = write ?? read
        }
    }

    static let bonded = LinkSecurity(isBonded: true)
    static let encrypted = LinkSecurity(isEncrypted: true, encryptionKeySize: 16)
    static let authenticated = LinkSecurity(isEncrypted: true, isAuthenticated: true, encryptionKeySize: 16)
    static let secure = LinkSecurity(
        isEncrypted: true, isAuthenticated: true, usesSecureConnections: true, encryptionKeySize: 16)
    static let justWorks = LinkSecurity(isEncrypted: true, usesSecureConnections: true, encryptionKeySize: 16)

    static func both(_ level: GATTPermissions.Requirement, keySize: UInt8 = 7) -> GATTPermissions {
        .init(read: level, write: level, minimumEncryptionKeySize: keySize)
    }

    static let authorized = GATTPermissions(
        read: .open, write: .open, readNeedsAuthorization: true, writeNeedsAuthorization: true)

    static let rows = [
        Row("access is not allowed", both(.notAllowed), secure, read: 0x02, write: 0x03),
        Row("access is open", both(.open), .unprotected, read: 0),
        Row("encryption without a key", both(.encrypted), .unprotected, read: 0x05),
        Row("encryption with a key, but not encrypted", both(.encrypted), bonded, read: 0x0F),
        Row("encryption on an encrypted link", both(.encrypted), encrypted, read: 0),
        Row(
            "encryption with a key that is too short", both(.encrypted, keySize: 16),
            .init(isEncrypted: true, encryptionKeySize: 15), read: 0x0C),
        Row("S3: encryption with a key that is just long enough", both(.encrypted, keySize: 16), encrypted, read: 0),
        Row("authentication without encryption", both(.authenticated), bonded, read: 0x0F),
        Row("authentication after Just Works", both(.authenticated), justWorks, read: 0x05),
        Row("authentication on an authenticated link", both(.authenticated), authenticated, read: 0),
        Row(
            "authentication with a key that is too short", both(.authenticated, keySize: 10),
            .init(isEncrypted: true, isAuthenticated: true, encryptionKeySize: 7), read: 0x0C),
        Row(
            "Secure Connections after legacy pairing", both(.authenticatedSecureConnections), authenticated,
            read: 0x05),
        Row(
            "Secure Connections after Just Works", both(.authenticatedSecureConnections), justWorks,
            read: 0x05),
        Row("Secure Connections on such a link", both(.authenticatedSecureConnections), secure, read: 0),
        Row("authorization on an authorized link", authorized, .init(isAuthorized: true), read: 0),
    ]

    /// A server with a characteristic that is read and written under `permissions`, its value at 0003, and an open one,
    /// its value at 0005.
    func bench(_ row: Row, value: GATTAttributeValue = .variableLength([0x41, 0x42])) throws -> ServerBench {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [
                    .init(
                        uuid: .init(0x2A00), properties: [.read, .write], permissions: row.permissions, value: value),
                    .init(uuid: .init(0x2A01), properties: .read, value: .constant([0x43])),
                ]))
        var bench = ServerBench(database)
        bench.security = row.link
        return bench
    }

    @Test("A12: every way to read requires the same permissions", arguments: rows)
    func reading(_ row: Row) throws {
        let paths: [(request: String, opcode: UInt8, response: String)] = [
            ("0A 03 00", 0x0A, "0B 41 42"),
            ("0C 03 00 01 00", 0x0C, "0D 42"),
            ("08 01 00 FF FF 00 2A", 0x08, "09 04 03 00 41 42"),
            ("0E 05 00 03 00", 0x0E, "0F 43 41 42"),
            ("20 05 00 03 00", 0x20, "21 01 00 43 02 00 41 42"),
        ]
        for path in paths {
            var bench = try bench(row)
            let refusal = [0x01, path.opcode, 0x03, 0x00, row.readError].hexadecimal()
            #expect(bench.send(path.request) == (row.readError == 0 ? path.response : refusal))
        }
        var bench = try bench(row)
        #expect(
            bench.send("06 01 00 FF FF 00 2A 41 42") == (row.readError == 0 ? "07 03 00 03 00" : "01 06 01 00 0A"))
    }

    @Test("A12: the application is not asked for a value that may not be read", arguments: rows)
    func readingDynamic(_ row: Row) throws {
        for request in ["0A 03 00", "0C 03 00 01 00", "08 01 00 FF FF 00 2A", "0E 05 00 03 00", "20 05 00 03 00"] {
            var bench = try bench(row, value: .dynamic)
            let response = bench.send(request)
            #expect((bench.token != nil) == (row.readError == 0))
            #expect(response.isEmpty == (row.readError == 0))
        }
    }

    @Test("A12: every way to write requires the same permissions", arguments: rows)
    func writing(_ row: Row) throws {
        var bench = try bench(row)
        let granted = row.writeError == 0
        #expect(bench.send("12 03 00 51") == (granted ? "13" : [0x01, 0x12, 0x03, 0x00, row.writeError].hexadecimal()))
        #expect(bench.server.database.value(of: 3) == (granted ? [0x51] : [0x41, 0x42]))

        bench = try self.bench(row)
        #expect(bench.send("52 03 00 52") == "")
        #expect(bench.server.database.value(of: 3) == (granted ? [0x52] : [0x41, 0x42]))

        bench = try self.bench(row)
        let refusal = [0x01, 0x16, 0x03, 0x00, row.writeError].hexadecimal()
        #expect(bench.send("16 03 00 00 00 53") == (granted ? "17 03 00 00 00 53" : refusal))
        #expect(bench.send("18 01") == "19")
        #expect(bench.server.database.value(of: 3) == (granted ? [0x53] : [0x41, 0x42]))

        bench = try self.bench(row)
        #expect(bench.send("D2 03 00 54 00 00 00 00 00 00 00 00 00 00 00 00") == "")
        #expect(bench.server.database.value(of: 3) == [0x41, 0x42])
    }

    @Test("A12: writes prepared on a more secure link are not executed on a less secure one")
    func executing() throws {
        var bench = try bench(Row("", Self.both(.encrypted), Self.encrypted, read: 0))
        #expect(bench.send("16 03 00 00 00 53") == "17 03 00 00 00 53")
        bench.security = Self.bonded
        #expect(bench.send("18 01") == "01 18 03 00 0F")
        #expect(bench.server.database.value(of: 3) == [0x41, 0x42])
        bench.security = Self.encrypted
        #expect(bench.send("18 01") == "19")
        #expect(bench.server.database.value(of: 3) == [0x41, 0x42], "the queue was forgotten")
    }

    @Test("a subscription may require more security than reading")
    func subscribing() throws {
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [
                    .init(uuid: .init(2), properties: [.read, .notify], subscription: .encrypted, value: .constant([]))
                ]))
        var bench = ServerBench(database)
        #expect(bench.send("12 04 00 01 00") == "01 12 04 00 05")
        bench.security = Self.encrypted
        #expect(bench.send("12 04 00 01 00") == "13")
        #expect(try bench.notify(0x0003, "AA") == "1B 03 00 AA")
        // The next connection of a bonded client begins without encryption.
        bench.security = Self.bonded
        #expect(throws: GATTServerError.insufficientSecurity(.insufficientEncryption)) {
            try bench.notify(0x0003, "AA")
        }
    }

    @Test("a subscription requires the same security as reading, unless the definition says otherwise")
    func subscriptionFollowsReading() {
        let protected = GATTPermissions(read: .authenticated)
        #expect(
            GATTCharacteristicDefinition(uuid: .init(2), properties: [.read, .notify], permissions: protected)
                .subscription == .authenticated)
        #expect(GATTCharacteristicDefinition(uuid: .init(2), properties: .notify).subscription == .open)
    }
}
