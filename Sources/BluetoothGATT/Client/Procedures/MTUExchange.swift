import BluetoothATT
import BluetoothBase

/// Exchange MTU (Core 5.4, Vol 3, Part G, 4.3.1).
struct MTUExchange: ClientProcedure {
    let clientRxMTU: UInt16
    /// The server's receive MTU, from its response.
    private(set) var serverRxMTU: UInt16 = 0

    init(clientRxMTU: UInt16) {
        self.clientRxMTU = max(clientRxMTU, UInt16(ATTBearer.defaultMTU))
    }

    var result: GATTClientResult { .mtu(max(ATTBearer.defaultMTU, Int(min(clientRxMTU, serverRxMTU)))) }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) {
        ExchangeMTURequest(clientRxMTU: clientRxMTU).encode(into: &writer)
    }

    mutating func receive(_ response: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        do { serverRxMTU = try ExchangeMTUResponse(decoding: response).serverRxMTU } catch { throw .malformed(error) }
        return .finished
    }
}
