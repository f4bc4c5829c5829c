import BluetoothATT
import BluetoothBase

// Robust caching (Core 5.4, Vol 3, Part G, 2.5.2.1): a client that keeps the handles it discovered is stopped from using
// them once the database has changed, until it knows of the change.

/// What a client that supports robust caching knows of the last change of the database.
enum GATTChangeAwareness: Equatable, Sendable {
    /// It knows of it, or has never asked for robust caching.
    case aware
    /// It does not. Database Out Of Sync has told it on the channels that have `GATTServerTransaction.toldOfChange`: its next
    /// request there shows that it has understood. One on another channel may have been sent before.
    case unaware
    /// It has read the Database Hash: its next request, on any channel, shows that it has understood.
    case hashRead
}

extension GATTServer {
    /// Decides what becomes of a client's PDU while it does not know of a change of the database.
    ///
    /// - Returns: what was done instead of serving it; nil where it has to be served.
    @inline(never)
    func receiveUnaware(
        _ pdu: Span<UInt8>, _ opcode: ATTOpcode, _ peer: inout GATTPeer, _ transaction: inout GATTServerTransaction,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome? {
        switch opcode.kind {
        case .command: return transaction.drop(.databaseOutOfSync)
        case .request where peer.changeAwareness == .hashRead || transaction.toldOfChange == peer.changeCount:
            peer.changeAwareness = .aware
            return nil
        case .request: break
        case .response, .notification, .indication, .confirmation: return nil
        }
        guard let handle = usedHandle(of: opcode, pdu) else { return nil }
        // To ask for the hash is how a client finds out.
        if handle == .hash {
            peer.changeAwareness = .hashRead
            return nil
        }
        transaction.toldOfChange = peer.changeCount
        return refuse(.databaseOutOfSync, opcode, at: handle.first, into: &writer)
    }

    /// What a request needs to know of the database.
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

    /// The handle that a request relies on; nil where it is discovering, concerns none, or is malformed.
    ///
    /// A read by type over all handles relies on none. Only such a read of the hash shows the client that the database changed:
    /// the hash may be elsewhere after the change, as any attribute.
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
