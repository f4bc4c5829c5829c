import BluetoothATT
import BluetoothBase

// The server's handling of the bearer itself.

extension GATTServer {
    /// Exchange MTU (Core 5.4, Vol 3, Part F, 3.4.2.1). Every request gets a response with the same MTU, but only the
    /// first exchange counts.
    func exchangeMTU(
        _ request: ExchangeMTURequest, bearer: inout ATTBearer, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard bearer.allowsMTUExchange else {
            return refuse(.requestNotSupported, .exchangeMTURequest, at: 0, into: &writer)
        }
        let serverRxMTU = UInt16(clamping: max(maximumMTU, ATTBearer.defaultMTU))
        ExchangeMTUResponse(serverRxMTU: serverRxMTU).encode(into: &writer)
        guard bearer.exchangeMTU(clientRxMTU: request.clientRxMTU, serverRxMTU: serverRxMTU) else { return .none }
        return .mtuExchanged(bearer.mtu)
    }

    /// Handle Value Confirmation (3.4.7.3).
    func confirm(_ transaction: inout GATTServerTransaction, bearer: inout ATTBearer) -> GATTServerOutcome {
        guard bearer.completeIndication(), let handle = transaction.indicated else {
            return transaction.drop(.unexpectedConfirmation)
        }
        transaction.indicated = nil
        return .confirmationReceived(handle)
    }

    /// Records that an indication is in flight.
    func beginIndication(_ bearer: inout ATTBearer, at now: Instant) throws(GATTServerError) {
        do { try bearer.beginIndication(at: now) } catch {
            switch error {
            case .dead: throw .bearerClosed
            case .busy, .notARequest: throw .indicationPending
            }
        }
    }
}
