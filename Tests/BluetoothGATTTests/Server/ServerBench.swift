import BluetoothATT
import BluetoothBase
import TestSupport

@testable import BluetoothGATT

/// A server with one client, driven by bytes in virtual time.
struct ServerBench {
    var server: GATTServer
    var endpoint = AttributeEndpoint()
    var now = Instant.zero
    var outcome = GATTServerOutcome.none

    init(_ database: GATTDatabase, mtu: Int = 23) {
        server = GATTServer(database: database)
        if mtu != 23 { bearer.exchangeMTU(clientRxMTU: UInt16(mtu), serverRxMTU: UInt16(mtu)) }
    }

    /// Another client in the place of this one, on the same bearer.
    mutating func meet(_ client: GATTServedClient) {
        endpoint = AttributeEndpoint(bearer: bearer, servedClient: client)
    }

    var bearer: ATTBearer {
        get { endpoint.channels[0].bearer }
        set { endpoint.channels[0].bearer = newValue }
    }

    var security: LinkSecurity {
        get { endpoint.security }
        set { endpoint.security = newValue }
    }

    var transaction: GATTServerTransaction { endpoint.channels[0].transaction }

    /// What the server answers to a PDU, in hexadecimal; empty where it says nothing.
    mutating func send(_ pdu: [UInt8], on channel: AttributeChannel.ID = .first) -> String {
        var writer = ByteWriter()
        // What stands before the response is the caller's and stays.
        writer.append(UInt16(0xBEEF))
        outcome = endpoint.serve(pdu.span, on: channel, server: &server, at: now, into: &writer)
        precondition(writer.bytes.prefix(2) == [0xEF, 0xBE], "the server touched bytes that are not its own")
        return writer.bytes.dropFirst(2).hexadecimal()
    }

    mutating func send(_ pdu: String, on channel: AttributeChannel.ID = .first) -> String {
        send(bytes(pdu), on: channel)
    }

    /// The token of the request the application was just asked to answer.
    var token: GATTRequestToken? {
        switch outcome {
        case .readRequested(let token, _, _), .writeRequested(let token, _, _), .executeRequested(let token): token
        default: nil
        }
    }

    mutating func answer(_ token: GATTRequestToken?, _ value: String) throws -> String {
        guard let token else { throw NoRequest() }
        let value = bytes(value)
        var writer = ByteWriter()
        outcome = try endpoint.answer(token, value: value.span, server: &server, into: &writer)
        return writer.bytes.hexadecimal()
    }

    mutating func accept(_ token: GATTRequestToken?) throws -> String {
        guard let token else { throw NoRequest() }
        var writer = ByteWriter()
        outcome = try endpoint.accept(token, server: &server, into: &writer)
        return writer.bytes.hexadecimal()
    }

    mutating func refuse(
        _ token: GATTRequestToken?, _ code: ATTErrorCode, at handle: AttributeHandle? = nil
    ) throws -> String {
        guard let token else { throw NoRequest() }
        var writer = ByteWriter()
        outcome = try endpoint.refuse(token, with: code, at: handle, server: server, into: &writer)
        return writer.bytes.hexadecimal()
    }

    mutating func fire() -> String {
        var writer = ByteWriter()
        outcome = server.fire(at: now, channel: &endpoint.channels[0], into: &writer)
        return writer.bytes.hexadecimal()
    }

    mutating func notify(_ handle: AttributeHandle, _ value: String) throws(GATTServerError) -> String {
        let value = bytes(value)
        var writer = ByteWriter()
        try endpoint.notify(handle, value: value.span, from: server, into: &writer)
        return writer.bytes.hexadecimal()
    }

    mutating func indicate(_ handle: AttributeHandle, _ value: String) throws(GATTServerError) -> String {
        let value = bytes(value)
        var writer = ByteWriter()
        try endpoint.indicate(handle, value: value.span, from: server, at: now, into: &writer)
        return writer.bytes.hexadecimal()
    }

    /// The application was not asked for anything.
    struct NoRequest: Error {}
}

extension GATTDatabase {
    /// One database for most tests:
    ///
    ///     0001 Primary Service 1800
    ///     0002 Characteristic      0003 Device Name "Thing", readable
    ///     0004 Characteristic      0005 Appearance 0340, readable
    ///     0006 Primary Service 180D
    ///     0007 Characteristic      0008 2A37, notify and indicate, dynamic
    ///     0009 Client Characteristic Configuration
    ///     000A Characteristic      000B 2A38, read and write, four octets, always
    ///     000C Characteristic User Description "Place"
    ///     000D Characteristic      000E 2A39, writable only, up to 8 octets
    ///     000F Secondary Service E07F…
    ///     0010 Include 0006-000E 180D
    ///     0011 Characteristic      0012 E07F…33, read and write, up to 512 octets, "0123…" 40 long
    ///     0013 Characteristic      0014 E07F…34, read and write, dynamic
    ///     0020 Primary Service E07F…35
    ///     0021 Characteristic      0022 2A38, read, three octets
    static func example() -> GATTDatabase {
        var database = GATTDatabase()
        let digits = (0..<40).map { UInt8(ascii: "0") + UInt8($0 % 10) }
        let services: [(GATTServiceDefinition, AttributeHandle)] = [
            (.genericAccess(deviceName: "Thing", appearance: 0x0340), 0x0001),
            (
                .init(
                    uuid: .init(0x180D),
                    characteristics: [
                        .init(uuid: .init(0x2A37), properties: [.notify, .indicate]),
                        .init(
                            uuid: .init(0x2A38), properties: [.read, .write], value: .fixedLength([1, 2, 3, 4]),
                            descriptors: [.userDescription("Place")]),
                        .init(
                            uuid: .init(0x2A39), properties: .writeWithoutResponse,
                            value: .variableLength([], maximum: 8)),
                    ]), 0x0006
            ),
            (
                .init(
                    uuid: exampleUUID(0x32), isPrimary: false, includes: [0x0006],
                    characteristics: [
                        .init(uuid: exampleUUID(0x33), properties: [.read, .write], value: .variableLength(digits)),
                        .init(uuid: exampleUUID(0x34), properties: [.read, .write]),
                    ]), 0x000F
            ),
            (
                .init(
                    uuid: exampleUUID(0x35),
                    characteristics: [
                        .init(uuid: .init(0x2A38), properties: .read, value: .constant([7, 8, 9]))
                    ]), 0x0020
            ),
        ]
        for (service, handle) in services { _ = try? database.add(service, at: handle) }
        precondition(database.count == 23)
        return database
    }
}

/// A UUID of 128 bits, told apart by its last octet.
func exampleUUID(_ last: UInt8) -> BluetoothUUID {
    BluetoothUUID(high: 0xE07F_0AE8_00BB_47F5, low: 0x94F4_4A71_74EA_3000 | UInt64(last))
}
