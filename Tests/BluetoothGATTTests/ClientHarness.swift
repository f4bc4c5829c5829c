import BluetoothATT
import BluetoothBase
import BluetoothGATT
import TestSupport
import Testing

/// A client on a bearer, with a test in the place of the server.
struct ClientHarness {
    var client: GATTClient
    var bearer = ATTBearer()
    var now = Instant.zero

    init(mtu: Int = 23, maximumWaiting: Int = 64) {
        client = GATTClient(maximumWaiting: maximumWaiting)
        if mtu > 23 { bearer.exchangeMTU(clientRxMTU: UInt16(mtu), serverRxMTU: UInt16(mtu)) }
    }

    /// Starts an operation. Returns its ID and the PDU that was sent, empty for none.
    mutating func start(_ operation: GATTClientOperation) throws -> (id: GATTClient.OperationID, sent: [UInt8]) {
        var writer = headed()
        let id = try client.start(operation, bearer: &bearer, at: now, into: &writer)
        return (id, pdu(writer))
    }

    /// Hands a PDU to the client. Returns what it sent, empty for nothing.
    @discardableResult
    mutating func receive(_ pdu: [UInt8]) -> [UInt8] {
        var writer = headed()
        client.receive(pdu.span, bearer: &bearer, at: now, into: &writer)
        return self.pdu(writer)
    }

    /// Takes out what has ended.
    mutating func takeEvents() -> [GATTClientEvent] {
        defer { client.events.removeAll(keepingCapacity: true) }
        return client.events
    }

    /// A writer that already holds the headers of lower layers.
    private func headed() -> ByteWriter {
        var writer = ByteWriter()
        writer.append([0xAA, 0xBB])
        return writer
    }

    private func pdu(_ writer: ByteWriter) -> [UInt8] {
        #expect(writer.bytes.prefix(2) == [0xAA, 0xBB])
        return Array(writer.bytes.dropFirst(2))
    }
}

/// What a client is expected to send, and what the server answers; both in hexadecimal.
typealias Exchange = (request: String, response: String)

/// Lets one operation run through a script. Every request must be the scripted one, and the operation must end with the
/// last response and not before.
func run(
    _ operation: GATTClientOperation, _ script: [Exchange], mtu: Int = 23,
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> Result<GATTClientResult, GATTClientError> {
    var harness = ClientHarness(mtu: mtu)
    var (id, sent) = try harness.start(operation)
    for exchange in script {
        #expect(sent.hexadecimal() == exchange.request, sourceLocation: sourceLocation)
        #expect(harness.client.events.isEmpty, sourceLocation: sourceLocation)
        sent = harness.receive(bytes(exchange.response))
    }
    #expect(sent == [], sourceLocation: sourceLocation)
    let events = harness.takeEvents()
    #expect(harness.client.pendingCount == 0, sourceLocation: sourceLocation)
    #expect(events.count == 1, sourceLocation: sourceLocation)
    switch try #require(events.first, sourceLocation: sourceLocation) {
    case .completed(let ended, let result):
        #expect(ended == id, sourceLocation: sourceLocation)
        return .success(result)
    case .failed(let ended, let error):
        #expect(ended == id, sourceLocation: sourceLocation)
        return .failure(error)
    }
}

/// Bytes that can be told apart: 0, 1, 2 and so on.
func counting(_ count: Int, from first: Int = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: first + $0) }
}
