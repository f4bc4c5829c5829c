import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport

/// An endpoint with two channels, driven by bytes in virtual time; a test is in the place of the peer.
///
/// Its database:
///
///     0001 Primary Service
///     0002 Characteristic      0003 2A00, read and write, dynamic
///     0004 Characteristic      0005 2A01, read, CC
///     0006 Characteristic      0007 2A02, read and write, up to 8 octets
///     0008 Characteristic      0009 2A03, notify and indicate
///     000A Client Characteristic Configuration
struct EndpointBench {
    var server = GATTServer()
    var endpoint = AttributeEndpoint()
    var now = Instant.zero
    var outcome = AttributeOutcome.ignored
    /// The channel that is there from the beginning, with an MTU of 23, and one with an MTU of 64.
    let first = AttributeChannel.ID.first
    let second: AttributeChannel.ID

    init() throws {
        second = endpoint.open(ATTBearer(channelMTU: 64))
        _ = try server.database.add(
            GATTServiceDefinition(
                uuid: "180F",
                characteristics: [
                    GATTCharacteristicDefinition(uuid: "2A00", properties: [.read, .write]),
                    GATTCharacteristicDefinition(uuid: "2A01", properties: .read, value: .constant([0xCC])),
                    GATTCharacteristicDefinition(
                        uuid: "2A02", properties: [.read, .write], value: .variableLength([], maximum: 8)),
                    GATTCharacteristicDefinition(uuid: "2A03", properties: [.notify, .indicate]),
                ]))
    }

    /// What the endpoint sends on a channel when a PDU arrives on it, in hexadecimal; empty where it sends nothing.
    mutating func receive(_ pdu: String, on channel: AttributeChannel.ID) -> String {
        let pdu = bytes(pdu)
        var writer = ByteWriter()
        // What stands before the PDU is the caller's and stays.
        writer.append(UInt16(0xBEEF))
        outcome = endpoint.receive(pdu.span, on: channel, server: &server, at: now, into: &writer)
        precondition(writer.bytes.prefix(2) == [0xEF, 0xBE], "the endpoint touched bytes that are not its own")
        return writer.bytes.dropFirst(2).hexadecimal()
    }

    /// Starts an operation, and returns what is sent for it.
    mutating func start(
        _ operation: GATTClientOperation, on channel: AttributeChannel.ID? = nil
    ) throws -> (id: GATTClient.OperationID, sent: String) {
        var writer = ByteWriter()
        let id = try endpoint.start(operation, on: channel, at: now, into: &writer)
        return (id, writer.bytes.hexadecimal())
    }

    /// The token of the request the application was just asked to answer.
    var token: GATTRequestToken? {
        guard case .server(let outcome) = outcome else { return nil }
        switch outcome {
        case .readRequested(let token, _, _), .writeRequested(let token, _, _), .executeRequested(let token):
            return token
        default: return nil
        }
    }

    mutating func answer(_ token: GATTRequestToken, _ value: String) throws -> String {
        let value = bytes(value)
        var writer = ByteWriter()
        _ = try endpoint.answer(token, value: value.span, server: &server, into: &writer)
        return writer.bytes.hexadecimal()
    }

    mutating func accept(_ token: GATTRequestToken) throws -> String {
        var writer = ByteWriter()
        _ = try endpoint.accept(token, server: &server, into: &writer)
        return writer.bytes.hexadecimal()
    }

    mutating func refuse(_ token: GATTRequestToken, with code: ATTErrorCode) throws -> String {
        var writer = ByteWriter()
        _ = try endpoint.refuse(token, with: code, server: server, into: &writer)
        return writer.bytes.hexadecimal()
    }

    mutating func notify(_ value: String, on channel: AttributeChannel.ID) throws -> String {
        let value = bytes(value)
        var writer = ByteWriter()
        try endpoint.notify(0x0009, value: value.span, on: channel, from: server, into: &writer)
        return writer.bytes.hexadecimal()
    }

    mutating func indicate(_ value: String, on channel: AttributeChannel.ID) throws -> String {
        let value = bytes(value)
        var writer = ByteWriter()
        try endpoint.indicate(0x0009, value: value.span, on: channel, from: server, at: now, into: &writer)
        return writer.bytes.hexadecimal()
    }

    /// Lets everything happen that is due, and returns what came of it and what was sent, channel by channel.
    mutating func fire() -> [(channel: AttributeChannel.ID, outcome: AttributeOutcome, sent: String)] {
        var fired: [(channel: AttributeChannel.ID, outcome: AttributeOutcome, sent: String)] = []
        while let channel = endpoint.dueChannel(at: now) {
            var writer = ByteWriter()
            let outcome = endpoint.fire(channel, server: server, at: now, into: &writer)
            fired.append((channel, outcome, writer.bytes.hexadecimal()))
        }
        return fired
    }

    /// Takes out the operations that have ended.
    mutating func takeEvents() -> [GATTClientEvent] {
        defer { endpoint.events.removeAll(keepingCapacity: true) }
        return endpoint.events
    }
}
