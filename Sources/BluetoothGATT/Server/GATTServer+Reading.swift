import BluetoothATT
import BluetoothBase

// Reading one value, or the values of one type (Core 5.4, Vol 3, Part F, 3.4.4).

extension GATTServer {
    /// Read (3.4.4.3).
    @inline(__always)
    func read(
        _ request: ReadRequest, _ client: borrowing GATTServedClient, _ transaction: inout GATTServerTransaction,
        _ link: GATTLinkView, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let index = database.index(of: request.handle) else {
            return refuse(.invalidHandle, .readRequest, at: request.handle, into: &writer)
        }
        if let code = refusal(of: .read, at: index, client) {
            return refuse(code, .readRequest, at: request.handle, into: &writer)
        }
        if database.rows[index].storage == .dynamic {
            return ask(.read(request.handle), offset: 0, &transaction, link)
        }
        ReadResponse.begin(into: &writer)
        append(at: index, client, count: link.mtu &- 1, into: &writer)
        return .none
    }

    /// Read Blob (3.4.4.5). A value that would have fit in a Read Response is not refused with Attribute Not Long: the
    /// specification leaves that open, and a client that starts at offset 0 is served.
    func read(
        _ request: ReadBlobRequest, _ client: borrowing GATTServedClient, _ transaction: inout GATTServerTransaction,
        _ link: GATTLinkView, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let index = database.index(of: request.handle) else {
            return refuse(.invalidHandle, .readBlobRequest, at: request.handle, into: &writer)
        }
        if let code = refusal(of: .read, at: index, client) {
            return refuse(code, .readBlobRequest, at: request.handle, into: &writer)
        }
        let offset = Int(request.offset)
        guard let length = length(at: index) else {
            // No value is longer than this, so the application need not be asked.
            guard offset <= GATTAttributeValue.maximumLength else {
                return refuse(.invalidOffset, .readBlobRequest, at: request.handle, into: &writer)
            }
            return ask(.readBlob(request.handle), offset: offset, &transaction, link)
        }
        guard offset <= length else {
            return refuse(.invalidOffset, .readBlobRequest, at: request.handle, into: &writer)
        }
        ReadBlobResponse.begin(into: &writer)
        append(at: index, client, from: offset, count: link.mtu &- 1, into: &writer)
        return .none
    }

    /// Read By Type (3.4.4.1). The list ends before the first value that has another length, may not be read, or is
    /// dynamic. Such a value is handled when it comes first.
    func read(
        _ request: ReadByTypeRequest, _ client: borrowing GATTServedClient, _ transaction: inout GATTServerTransaction,
        _ link: GATTLinkView, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        let opcode = ATTOpcode.readByTypeRequest
        guard let handles = request.handles else {
            return refuse(.invalidHandle, opcode, at: request.startingHandle, into: &writer)
        }
        let candidates = database.handles(ofType: request.attributeType)
        var position = candidates.position(from: handles.lowerBound)
        var firstLength: Int?
        var taken = 0
        var space = link.mtu &- 2
        while position < candidates.count, candidates[position] <= handles.upperBound {
            let handle = candidates[position]
            guard let index = database.index(of: handle) else { break }
            if let code = refusal(of: .read, at: index, client) {
                guard firstLength == nil else { break }
                return refuse(code, opcode, at: handle, into: &writer)
            }
            guard let length = length(at: index) else {
                guard firstLength == nil else { break }
                return ask(.readByType(handle), offset: 0, &transaction, link)
            }
            if firstLength == nil {
                firstLength = length
                taken = Self.listedLength(of: length, mtu: link.mtu)
                ReadByTypeResponse.begin(elementLength: UInt8(truncatingIfNeeded: 2 &+ taken), into: &writer)
            }
            space &-= 2 &+ taken
            guard length == firstLength, space >= 0 else { break }
            writer.append(handle)
            append(at: index, client, count: taken, into: &writer)
            position &+= 1
        }
        guard firstLength != nil else {
            return refuse(.attributeNotFound, opcode, at: handles.lowerBound, into: &writer)
        }
        return .none
    }

    /// The number of octets of a value in a Read By Type Response, whose length field also counts the handle.
    static func listedLength(of length: Int, mtu: Int) -> Int { min(length, mtu &- 4, 253) }

    /// Defers a read until the application provides the value.
    func ask(
        _ request: GATTPendingRequest.Kind, offset: Int, _ transaction: inout GATTServerTransaction,
        _ link: GATTLinkView
    ) -> GATTServerOutcome {
        let token = transaction.wait(for: request, until: link.now.advanced(by: applicationTimeout))
        return .readRequested(token, handle: request.handle, offset: offset)
    }
}
