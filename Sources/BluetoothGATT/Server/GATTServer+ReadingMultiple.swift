import BluetoothATT
import BluetoothBase

// Reading several values at once (Core 5.4, Vol 3, Part F, 3.4.4.7 and 3.4.4.11).

extension GATTServer {
    /// Read Multiple and Read Multiple Variable. Every attribute is checked before the first value is collected, so
    /// that the application is not asked unnecessarily.
    func read(
        _ list: HandleList, isVariable: Bool, _ client: borrowing GATTServedClient,
        _ transaction: inout GATTServerTransaction, _ link: GATTLinkView, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        let opcode: ATTOpcode = isVariable ? .readMultipleVariableRequest : .readMultipleRequest
        var iterator = list.makeIterator()
        while let handle = iterator.next() {
            guard let index = database.index(of: handle) else {
                return refuse(.invalidHandle, opcode, at: handle, into: &writer)
            }
            if let code = refusal(of: .read, at: index, client) {
                return refuse(code, opcode, at: handle, into: &writer)
            }
        }
        transaction.collected.begin(list, isVariable: isVariable)
        let deadline = link.now.advanced(by: applicationTimeout)
        return collect(client, &transaction, mtu: link.mtu, until: deadline, into: &writer)
    }

    /// Collects values until the application must provide one, or the response is full or complete.
    ///
    /// - Parameter deadline: When the application must have provided all of them: the client waits for one response.
    func collect(
        _ client: borrowing GATTServedClient, _ transaction: inout GATTServerTransaction, mtu: Int,
        until deadline: Instant,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        // Moved out temporarily, because the transaction changes while this is written.
        var collected = GATTCollectedValues()
        swap(&collected, &transaction.collected)
        defer { swap(&collected, &transaction.collected) }
        let limit = mtu &- 1
        while collected.next < collected.handles.count, collected.writer.count < limit {
            let handle = collected.handles[collected.next]
            // The database may have changed while the application was preparing its answer.
            guard let index = database.index(of: handle) else {
                return refuse(.invalidHandle, collected.opcode, at: handle, into: &writer)
            }
            guard let length = length(at: index) else {
                let token = transaction.wait(for: .readMultiple(handle), until: deadline)
                return .readRequested(token, handle: handle, offset: 0)
            }
            let count = collected.beginValue(ofLength: length, limit: limit)
            append(at: index, client, count: count, into: &collected.writer)
        }
        collected.encode(into: &writer)
        return .none
    }
}
