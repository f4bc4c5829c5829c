import BluetoothATT
import BluetoothBase

// Discovery requests (Core 5.4, Vol 3, Part F, 3.4.3 and 3.4.4.9).

extension GATTServer {
    /// Find Information: handles and types (3.4.3.1). It requires no permission.
    func find(
        _ request: FindInformationRequest, _ link: GATTLinkView, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let handles = request.handles else {
            return refuse(.invalidHandle, .findInformationRequest, at: request.startingHandle, into: &writer)
        }
        guard var handle = database.firstHandle(from: handles.lowerBound), handle <= handles.upperBound,
            let first = database.index(of: handle)
        else {
            return refuse(.attributeNotFound, .findInformationRequest, at: handles.lowerBound, into: &writer)
        }
        let format = FindInformationResponse.Format(for: database.typeUUID(at: first))
        var space = link.mtu &- 2
        FindInformationResponse.begin(format: format, into: &writer)
        while let index = database.index(of: handle) {
            let type = database.typeUUID(at: index)
            space &-= format.elementLength
            guard space >= 0, FindInformationResponse.Format(for: type) == format else { break }
            FindInformationResponse.append(handle: handle, type: type, into: &writer)
            guard let next = database.handle(after: handle), next <= handles.upperBound else { break }
            handle = next
        }
        return .none
    }

    /// Find By Type Value: the groups that start with a value (3.4.3.3).
    ///
    /// Values that may not be read do not match, nor do dynamic values.
    func find(
        _ request: FindByTypeValueRequest, _ client: borrowing GATTServedClient, _ link: GATTLinkView,
        into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        guard let handles = request.handles else {
            return refuse(.invalidHandle, .findByTypeValueRequest, at: request.startingHandle, into: &writer)
        }
        let start = writer.count
        var space = link.mtu &- 1
        FindByTypeValueResponse.begin(into: &writer)
        let candidates = database.candidates(ofType: request.attributeType, value: request.attributeValue)
        var position = candidates.position(from: handles.lowerBound)
        while position < candidates.count, candidates[position] <= handles.upperBound {
            defer { position &+= 1 }
            guard let index = database.index(of: candidates[position]), matches(request, index, client, link) else {
                continue
            }
            space &-= FindByTypeValueResponse.elementLength
            guard space >= 0 else { break }
            FindByTypeValueResponse.append(
                foundHandle: candidates[position], groupEndHandle: database.rows[index].groupEnd, into: &writer)
        }
        guard writer.count > start &+ 1 else {
            writer.truncate(to: start)
            return refuse(.attributeNotFound, .findByTypeValueRequest, at: handles.lowerBound, into: &writer)
        }
        return .none
    }

    private func matches(
        _ request: FindByTypeValueRequest, _ index: Int, _ client: borrowing GATTServedClient,
        _ link: GATTLinkView
    ) -> Bool {
        guard refusal(of: .read, at: index, client) == nil else { return false }
        return value(at: index, client, equals: request.attributeValue)
    }

    /// Read By Group Type: the services (3.4.4.9). Only service declarations open groups (Part G, 2.5.3).
    func read(
        _ request: ReadByGroupTypeRequest, _ link: GATTLinkView, into writer: inout ByteWriter
    ) -> GATTServerOutcome {
        let opcode = ATTOpcode.readByGroupTypeRequest
        guard let handles = request.handles else {
            return refuse(.invalidHandle, opcode, at: request.startingHandle, into: &writer)
        }
        let type = request.attributeGroupType
        guard type == .primaryService || type == .secondaryService else {
            return refuse(.unsupportedGroupType, opcode, at: handles.lowerBound, into: &writer)
        }
        let candidates = database.handles(ofType: type)
        var position = candidates.position(from: handles.lowerBound)
        var elementLength = 0
        var space = link.mtu &- 2
        while position < candidates.count, candidates[position] <= handles.upperBound {
            guard let index = database.index(of: candidates[position]) else { break }
            let attribute = database.rows[index]
            if let code = attribute.permissions.refusal(of: .read, on: link.security) {
                guard elementLength == 0 else { break }
                return refuse(code, opcode, at: attribute.handle, into: &writer)
            }
            // A service UUID has 2 or 16 octets. Together with the two handles, it fits the minimum ATT_MTU.
            let value = database.values[index]
            let length = 4 &+ value.count
            if elementLength == 0 {
                elementLength = length
                ReadByGroupTypeResponse.begin(
                    elementLength: UInt8(truncatingIfNeeded: elementLength), into: &writer)
            }
            space &-= elementLength
            guard length == elementLength, space >= 0 else { break }
            ReadByGroupTypeResponse.append(
                handle: attribute.handle, endGroupHandle: attribute.groupEnd, value: value.span, into: &writer)
            position &+= 1
        }
        guard elementLength > 0 else {
            return refuse(.attributeNotFound, opcode, at: handles.lowerBound, into: &writer)
        }
        return .none
    }
}
