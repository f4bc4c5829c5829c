import BluetoothATT
import BluetoothBase

// Queued writes (Core 5.4, Vol 3, Part F, 3.4.6): Prepare Write collects them, and Execute Write executes either all of
// them or none.

extension GATTServer {
    /// Prepare Write (3.4.6.1). Offset and length are checked when the write is executed.
    func prepare(
        _ request: PrepareWriteRequest, _ client: inout GATTServedClient, _ link: GATTLinkView,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let index = database.index(of: request.handle) else {
            return refuse(.invalidHandle, .prepareWriteRequest, at: request.handle, into: &writer)
        }
        if let code = refusal(of: .write, at: index, client) {
            return refuse(code, .prepareWriteRequest, at: request.handle, into: &writer)
        }
        guard client.preparedWrites.append(request) else {
            return refuse(.prepareQueueFull, .prepareWriteRequest, at: request.handle, into: &writer)
        }
        PrepareWriteResponse(handle: request.handle, offset: request.offset, value: request.value)
            .encode(into: &writer)
        return .none
    }

    /// Execute Write (3.4.6.3). The queue is empty afterwards in any case. Writes queued on another channel while the
    /// application decides belong to the next execution.
    mutating func execute(
        _ request: ExecuteWriteRequest, _ client: inout GATTServedClient, _ transaction: inout GATTServerTransaction,
        _ link: GATTLinkView, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        switch request.flags {
        case .cancel:
            client.preparedWrites.removeAll()
            ExecuteWriteResponse().encode(into: &writer)
            return .none
        case .write:
            transaction.executing = client.preparedWrites.takeAll()
            let staged: [GATTStagedWrite]
            do { staged = try stage(transaction.executing, client) } catch {
                transaction.executing.removeAll()
                return refuse(error, into: &writer)
            }
            if staged.contains(where: { database.rows[$0.index].storage == .dynamic }) {
                let token = transaction.wait(for: .execute, until: link.now.advanced(by: applicationTimeout))
                return .executeRequested(token)
            }
            return commit(staged, &client, &transaction, into: &writer)
        }
    }

    /// Executes the queue once the application has accepted the writes to dynamic values.
    mutating func executeAccepted(
        _ client: inout GATTServedClient, _ transaction: inout GATTServerTransaction, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        do {
            return commit(try stage(transaction.executing, client), &client, &transaction, into: &writer)
        } catch {
            transaction.executing.removeAll()
            return refuse(error, into: &writer)
        }
    }

    /// Computes the new values, and throws the first error.
    private func stage(
        _ writes: borrowing GATTPreparedWrites, _ client: borrowing GATTServedClient
    ) throws(ATTError) -> [GATTStagedWrite] {
        var staged: [GATTStagedWrite] = []
        for position in 0..<writes.count {
            let handle = writes.handle(at: position)
            guard let index = database.index(of: handle) else {
                throw ATTError(.invalidHandle, for: .executeWriteRequest, at: handle)
            }
            let offset = writes.offset(at: position)
            var place = staged.firstIndex { $0.index == index }
            if place == nil {
                place = staged.count
                staged.append(GATTStagedWrite(index: index, value: initialValue(at: index, offset, client)))
            }
            guard let place else { continue }
            let capacity = capacity(at: index)
            if let code = staged[place].write(writes.value(at: position), at: offset, capacity) {
                throw ATTError(code, for: .executeWriteRequest, at: handle)
            }
        }
        for write in staged {
            if let code = refusal(ofWriting: write.value.span, at: write.index, client) {
                throw ATTError(code, for: .executeWriteRequest, at: database.rows[write.index].handle)
            }
        }
        return staged
    }

    /// The value that the parts are written to. A variable-length value starts empty if the first part has offset 0, so
    /// that a long write leaves nothing of a longer old value. A dynamic value is unknown: it is assumed to be long
    /// enough for every offset.
    private func initialValue(
        at index: Int, _ offset: Int, _ client: borrowing GATTServedClient
    ) -> [UInt8] {
        switch database.rows[index].storage {
        case .constant, .fixedLength: return database.values[index]
        case .variableLength: return offset == 0 ? [] : database.values[index]
        case .dynamic: return [UInt8](repeating: 0, count: GATTAttributeValue.maximumLength)
        case .clientConfiguration, .clientSupportedFeatures:
            var value = ByteWriter()
            append(at: index, client, count: 2, into: &value)
            return value.bytes
        }
    }

    /// The maximum length of a value, in octets.
    private func capacity(at index: Int) -> Int {
        switch database.rows[index].storage {
        case .constant, .dynamic: GATTAttributeValue.maximumLength
        case .fixedLength: database.values[index].count
        case .variableLength(let maximum): Int(maximum)
        case .clientConfiguration: 2
        case .clientSupportedFeatures: 1
        }
    }

    private mutating func commit(
        _ staged: [GATTStagedWrite], _ client: inout GATTServedClient, _ transaction: inout GATTServerTransaction,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        var changes: [GATTValueChange] = []
        // The application has already accepted the parts for dynamic values.
        for write in staged where database.rows[write.index].storage != .dynamic {
            switch commit(write.value.span, at: write.index, &client) {
            case .valueWritten(let handle, _): changes.append(.value(handle))
            case .subscriptionChanged(let change): changes.append(.subscription(change))
            case .clientSupportedFeaturesChanged(let features): changes.append(.clientSupportedFeatures(features))
            default: break
            }
        }
        transaction.executing.removeAll()
        ExecuteWriteResponse().encode(into: &writer)
        return .preparedWritesExecuted(changes)
    }
}

/// The new value of an attribute when a queue is executed.
private struct GATTStagedWrite {
    /// The row of the attribute in the database.
    var index: Int
    var value: [UInt8]

    /// Writes a part. Returns an error if the part begins beyond the value's end, or ends beyond the attribute's
    /// maximum.
    mutating func write(_ part: Span<UInt8>, at offset: Int, _ capacity: Int) -> ATTErrorCode? {
        guard offset <= value.count else { return .invalidOffset }
        guard offset + part.count <= capacity else { return .invalidAttributeValueLength }
        for index in 0..<part.count {
            if offset + index < value.count { value[offset + index] = part[index] } else { value.append(part[index]) }
        }
        return nil
    }
}
