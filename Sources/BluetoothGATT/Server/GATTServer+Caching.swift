import BluetoothATT
import BluetoothBase

// Robust caching (Core 5.4, Vol 3, Part G, 2.5.2.1): after the database has changed, a client may not use cached
// handles until it knows of the change.

/// What a client that supports robust caching knows about the last change of the database.
enum GATTChangeAwareness: Equatable, Sendable {
    /// The client knows of the change, or has never enabled robust caching.
    case aware
    /// The client does not know of the change. On channels with `GATTServerTransaction.toldOfChange`, it has received
    /// Database Out Of Sync: its next request there shows that it has understood. A request on another channel may have
    /// been sent before.
    case unaware
    /// The client has read the Database Hash. Its next request, on any channel, shows that it has understood.
    case hashRead
}

extension GATTServer {
    /// Decides how to handle a PDU from a client that does not know of a change of the database.
    ///
    /// - Returns: The outcome, if the PDU is not served; nil if it must be served.
    @inline(never)
    func receiveUnaware(
        _ pdu: Span<UInt8>, _ opcode: ATTOpcode, _ client: inout GATTServedClient,
        _ transaction: inout GATTServerTransaction,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome? {
        switch opcode.kind {
        case .command: return transaction.drop(.databaseOutOfSync)
        case .request where client.changeAwareness == .hashRead || transaction.toldOfChange == client.changeCount:
            client.changeAwareness = .aware
            return nil
        case .request: break
        case .response, .notification, .indication, .confirmation: return nil
        }
        guard let handle = usedHandle(of: opcode, pdu) else { return nil }
        // A client finds out about the change by reading the hash.
        if handle == .hash {
            client.changeAwareness = .hashRead
            return nil
        }
        transaction.toldOfChange = client.changeCount
        return refuse(.databaseOutOfSync, opcode, at: handle.first, into: &writer)
    }

    /// The part of the database that a request relies on.
    private enum UsedHandle: Equatable {
        case hash
        case handle(AttributeHandle)

        var first: AttributeHandle {
            switch self {
            case .hash: 0
            case .handle(let handle): handle
            }
        }
    }

    /// The handle that a request relies on; nil if it discovers attributes, uses no handle, or is malformed.
    ///
    /// A Read By Type over all handles relies on none. A read of the hash only counts as such if it covers all handles:
    /// like any attribute, the hash may have moved with the change.
    private func usedHandle(of opcode: ATTOpcode, _ pdu: Span<UInt8>) -> UsedHandle? {
        var reader = ByteReader(pdu.extracting(droppingFirst: 1))
        switch opcode {
        case .readRequest, .readBlobRequest, .readMultipleRequest, .readMultipleVariableRequest, .writeRequest,
            .prepareWriteRequest:
            return (try? reader.readUInt16()).map { .handle(AttributeHandle($0)) }
        case .readByTypeRequest:
            guard let request = try? ReadByTypeRequest(decoding: reader) else { return nil }
            let isOverAll = request.startingHandle == 0x0001 && request.endingHandle == 0xFFFF
            switch request.attributeType {
            case .include, .characteristic: return nil
            case .databaseHash where isOverAll: return .hash
            default: return isOverAll ? nil : .handle(request.startingHandle)
            }
        default: return nil
        }
    }
}
