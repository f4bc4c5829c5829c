import BluetoothATT
import BluetoothBase
import TestSupport
import Testing

@testable import BluetoothGATT

/// A value 41 42 at 0003 that is read and written with the application's consent alone, an open one 43 at 0005, and one
/// that is notified at 0007, with its configuration at 0008.
@Suite("GATT server: authorization (Vol 3, Part F, 3.2.5; Part C, 10.5)")
struct ServerAuthorizationTests {
    private func bench(_ value: GATTAttributeValue = .variableLength([0x41, 0x42])) throws -> ServerBench {
        let consent = GATTPermissions(
            read: .open, write: .open, readNeedsAuthorization: true, writeNeedsAuthorization: true,
            acceptsSignedWrites: true)
        var database = GATTDatabase()
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [
                    .init(
                        uuid: .init(0x2A00), properties: [.read, .write, .writeWithoutResponse], permissions: consent,
                        value: value),
                    .init(uuid: .init(0x2A01), properties: .read, value: .constant([0x43])),
                    .init(
                        uuid: .init(0x2A02), properties: [.read, .notify],
                        permissions: .init(read: .open, readNeedsAuthorization: true), value: .constant([])),
                ]))
        return ServerBench(database)
    }

    private func question(_ bench: ServerBench) throws -> GATTRequestToken {
        guard case .authorizationRequested(let token, _, _) = bench.outcome else { throw ServerBench.NoRequest() }
        return token
    }

    /// What is sent once the application agrees.
    private func authorize(_ token: GATTRequestToken, _ bench: inout ServerBench) throws -> [String] {
        var sent: [String] = []
        for held in try bench.endpoint.authorize(token) { sent.append(bench.resume(held)) }
        return sent
    }

    /// Each request that reads or writes, with its response and the error where it is refused.
    static let requests: [(request: String, access: GATTAccess, allowed: String, refused: String)] = [
        ("0A 03 00", .read, "0B 41 42", "01 0A 03 00 08"),
        ("0C 03 00 01 00", .read, "0D 42", "01 0C 03 00 08"),
        ("08 01 00 FF FF 00 2A", .read, "09 04 03 00 41 42", "01 08 03 00 08"),
        ("0E 05 00 03 00", .read, "0F 43 41 42", "01 0E 03 00 08"),
        ("20 05 00 03 00", .read, "21 01 00 43 02 00 41 42", "01 20 03 00 08"),
        ("12 03 00 51", .write, "13", "01 12 03 00 08"),
        ("16 03 00 00 00 51", .write, "17 03 00 00 00 51", "01 16 03 00 08"),
    ]

    @Test("Every request waits for the application, and is served once it agrees", arguments: requests)
    func allowed(request: String, access: GATTAccess, allowed: String, refused: String) throws {
        var bench = try bench()
        #expect(bench.send(request) == "")
        let token = try question(bench)
        #expect(bench.outcome == .authorizationRequested(token, handle: 3, access: access))
        #expect(bench.server.database.value(of: 3) == [0x41, 0x42])
        // The client must not send another request before it has its response.
        #expect(bench.send("0A 05 00") == "")
        #expect(bench.outcome == .dropped(.requestPending))
        #expect(try authorize(token, &bench) == [allowed])
        // Consent lasts as long as the link, for this access alone.
        #expect(bench.send(request) == allowed)
        #expect(bench.send(access == .read ? "12 03 00 51" : "0A 03 00") == "")
        #expect(throws: GATTServerError.staleToken) { try bench.endpoint.authorize(token) }
    }

    @Test("Every request is answered with Insufficient Authorization if the application refuses", arguments: requests)
    func refused(request: String, access: GATTAccess, allowed: String, refused: String) throws {
        var bench = try bench()
        #expect(bench.send(request) == "")
        let token = try question(bench)
        #expect(try bench.refuse(token, .insufficientAuthorization) == refused)
        #expect(bench.outcome.isRefused(with: .insufficientAuthorization))
        #expect(throws: GATTServerError.staleToken) { try bench.endpoint.authorize(token) }
        #expect(bench.server.database.value(of: 3) == [0x41, 0x42])
        #expect(bench.send("0A 05 00") == "0B 43")
        // It is asked again.
        #expect(bench.send(request) == "")
        #expect(try question(bench) != token)
    }

    @Test("An application that does not answer within 25 seconds refuses the request", arguments: requests)
    func expired(request: String, access: GATTAccess, allowed: String, refused: String) throws {
        var bench = try bench()
        bench.now = .zero.advanced(by: .seconds(100))
        #expect(bench.send(request) == "")
        let token = try question(bench)
        #expect(bench.transaction.nextDeadline == .zero.advanced(by: .seconds(125)))
        bench.now = .zero.advanced(by: .milliseconds(124_999))
        #expect(bench.fire() == "")
        bench.now = .zero.advanced(by: .seconds(125))
        #expect(bench.fire() == refused)
        #expect(bench.outcome == .requestExpired(token))
        #expect(bench.transaction.nextDeadline == nil)
    }

    @Test("After authorization, the application has the rest of the 25 seconds to provide the value")
    func dynamic() throws {
        var bench = try bench(.dynamic)
        _ = bench.send("0A 03 00")
        let token = try question(bench)
        bench.now = .zero.advanced(by: .seconds(20))
        #expect(try authorize(token, &bench) == [""])
        let read = try #require(bench.token)
        #expect(bench.transaction.nextDeadline == .zero.advanced(by: .seconds(25)))
        #expect(throws: GATTServerError.wrongAnswer) { try bench.endpoint.authorize(read) }
        #expect(try bench.answer(read, "07") == "0B 07")
    }

    @Test("Commands wait in order, up to 16 of them, with one authorization request for all")
    func commands() throws {
        var bench = try bench()
        #expect(bench.send("52 03 00 01") == "")
        let token = try question(bench)
        for octet in 2...16 {
            #expect(bench.send([0x52, 0x03, 0x00, UInt8(octet)]) == "")
            #expect(bench.outcome == .none)
        }
        #expect(bench.send("52 03 00 11") == "")
        #expect(bench.outcome == .dropped(.refused(.insufficientAuthorization)))
        // Others go on.
        #expect(bench.send("0A 05 00") == "0B 43")
        #expect(bench.server.database.value(of: 3) == [0x41, 0x42])
        #expect(try authorize(token, &bench) == [String](repeating: "", count: 16))
        #expect(bench.server.database.value(of: 3) == [16])
        #expect(bench.outcome == .valueWritten(handle: 3, value: 3..<4))
        #expect(bench.send("52 03 00 12") == "")
        #expect(bench.server.database.value(of: 3) == [0x12])
    }

    @Test("Refused commands are ignored")
    func refusedCommands() throws {
        var bench = try bench()
        _ = bench.send("52 03 00 01")
        let token = try question(bench)
        _ = bench.send("52 03 00 02")
        #expect(try bench.refuse(token, .insufficientAuthorization) == "")
        #expect(bench.outcome == .dropped(.refused(.insufficientAuthorization)))
        #expect(bench.server.database.value(of: 3) == [0x41, 0x42])
        #expect(bench.transaction.nextDeadline == nil)
    }

    @Test("A signed write waits for authorization once its signature is verified", arguments: [true, false])
    func signed(isAllowed: Bool) throws {
        var bench = try bench()
        #expect(bench.send("D2 03 00 51 00 00 00 00 01 02 03 04 05 06 07 08") == "")
        #expect(bench.outcome == .signedWriteReceived(handle: 3, value: 3..<4))
        let value: [UInt8] = [0x51]
        bench.outcome = bench.endpoint.commitSigned(value.span, to: 3, server: &bench.server, at: bench.now)
        let token = try question(bench)
        #expect(bench.outcome == .authorizationRequested(token, handle: 3, access: .write))
        if isAllowed {
            #expect(try authorize(token, &bench) == [""])
            #expect(bench.outcome == .valueWritten(handle: 3, value: 3..<4))
        } else {
            #expect(try bench.refuse(token, .insufficientAuthorization) == "")
        }
        #expect(bench.server.database.value(of: 3) == (isAllowed ? [0x51] : [0x41, 0x42]))
    }

    @Test("Prepared writes are executed with the authorization given when they were prepared")
    func queued() throws {
        var bench = try bench()
        _ = bench.send("16 03 00 00 00 51")
        #expect(try authorize(question(bench), &bench) == ["17 03 00 00 00 51"])
        #expect(bench.send("16 03 00 01 00 52") == "17 03 00 01 00 52")
        #expect(bench.send("18 01") == "19")
        #expect(bench.server.database.value(of: 3) == [0x51, 0x52])
    }

    @Test("Subscribing to a value needs the same authorization as reading it, and so does each notification")
    func subscription() throws {
        var bench = try bench()
        #expect(bench.send("12 08 00 01 00") == "")
        let token = try question(bench)
        #expect(bench.outcome == .authorizationRequested(token, handle: 8, access: .write))
        #expect(throws: GATTServerError.notSubscribed(7)) { try bench.notify(7, "01") }
        #expect(try authorize(token, &bench) == ["13"])
        #expect(try bench.notify(7, "01") == "1B 07 00 01")
        // The subscription of a bonded client is restored; consent ended with its link.
        bench.meet(GATTServedClient(subscriptions: bench.endpoint.servedClient.subscriptions))
        #expect(throws: GATTServerError.insufficientSecurity(.insufficientAuthorization)) { try bench.notify(7, "01") }
    }

    @Test("A search by value does not reveal a value that needs authorization")
    func search() throws {
        var bench = try bench()
        #expect(bench.send("06 01 00 FF FF 00 2A 41 42") == "01 06 01 00 0A")
    }

    @Test("While one channel waits for authorization, another continues")
    func otherChannel() throws {
        var bench = try bench()
        let second = bench.endpoint.open(ATTBearer(channelMTU: 64))
        _ = bench.send("0A 03 00")
        let token = try question(bench)
        #expect(bench.send("0A 05 00", on: second) == "0B 43")
        #expect(bench.send("0A 03 00", on: second) == "")
        let other = try question(bench)
        #expect(other.channel == second)
        #expect(try authorize(token, &bench) == ["0B 41 42"])
        #expect(try authorize(other, &bench) == ["0B 41 42"])
        #expect(bench.send("0A 03 00", on: second) == "0B 41 42")
    }

    @Test("Authorization ends with its attribute, and a new attribute in its place needs its own")
    func replaced() throws {
        var bench = try bench()
        _ = bench.send("0A 03 00")
        _ = try authorize(question(bench), &bench)
        let range = try bench.server.database.removeService(at: 1)
        bench.endpoint.forget(range)
        let consent = GATTPermissions(read: .open, readNeedsAuthorization: true)
        _ = try bench.server.database.add(
            .init(
                uuid: .init(1),
                characteristics: [.init(uuid: .init(2), properties: .read, permissions: consent, value: .constant([9]))]
            ),
            at: 1)
        #expect(bench.send("0A 03 00") == "")
        let token = try question(bench)
        // It is gone before the answer: what waits is told what is true then.
        _ = try bench.server.database.removeService(at: 1)
        #expect(try authorize(token, &bench) == ["01 0A 03 00 01"])
    }

    @Test("Encryption is required before authorization, and an imitated error needs no authorization")
    func others() throws {
        var database = GATTDatabase()
        var imitated = GATTPermissions(readNeedsAuthorization: true)
        imitated.readError = .insufficientAuthorization
        _ = try database.add(
            .init(
                uuid: .init(1),
                characteristics: [
                    .init(
                        uuid: .init(2), properties: .read,
                        permissions: .init(read: .encrypted, readNeedsAuthorization: true), value: .constant([1])),
                    .init(uuid: .init(3), properties: .read, permissions: imitated, value: .constant([2])),
                ]))
        var bench = ServerBench(database)
        #expect(bench.send("0A 03 00") == "01 0A 03 00 05")
        #expect(bench.send("0A 05 00") == "01 0A 05 00 08")
        bench.security = LinkSecurity(isEncrypted: true, encryptionKeySize: 16)
        #expect(bench.send("0A 03 00") == "")
        _ = try question(bench)
    }
}

extension ServerBench {
    /// Serves what has waited for consent, and returns what is sent for it.
    fileprivate mutating func resume(_ held: GATTHeldPDU) -> String {
        var writer = ByteWriter()
        outcome = endpoint.resume(held, server: &server, into: &writer)
        return writer.bytes.hexadecimal()
    }
}
