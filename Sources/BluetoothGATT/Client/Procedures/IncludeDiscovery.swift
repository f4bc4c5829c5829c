import BluetoothATT
import BluetoothBase

/// Find Included Services (Core 5.4, Vol 3, Part G, 4.5.1).
///
/// A 128-bit UUID does not fit in an include declaration. It is read from the included service's own declaration before
/// the sweep continues.
struct IncludeDiscovery: SweepProcedure {
    var found: [DiscoveredInclude] = []
    private var cursor: HandleCursor
    /// The index in `found` of the first include without a UUID.
    private var resolved = 0

    init(in handles: ClosedRange<AttributeHandle>) {
        cursor = HandleCursor(handles)
    }

    var result: GATTClientResult { .includes(found) }

    /// Continues with another range, after the one swept.
    mutating func sweep(_ handles: ClosedRange<AttributeHandle>) {
        cursor = HandleCursor(handles)
    }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) {
        if resolved < found.count {
            ReadRequest(handle: found[resolved].startHandle).encode(into: &writer)
        } else {
            ReadByTypeRequest(
                startingHandle: cursor.startingHandle, endingHandle: cursor.endingHandle, attributeType: .include
            ).encode(into: &writer)
        }
    }

    mutating func receive(_ error: ATTError) throws(GATTClientError) -> ProcedureProgress {
        guard error.code == .attributeNotFound, resolved == found.count else { throw .att(error) }
        return .finished
    }

    mutating func receive(_ response: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        if resolved < found.count {
            found[resolved].uuid = try Self.readUUID(response)
            resolved += 1
        } else {
            try appendIncludes(response)
        }
        return resolved == found.count && cursor.isExhausted ? .finished : .request
    }

    private static func readUUID(_ response: consuming ByteReader) throws(GATTClientError) -> BluetoothUUID {
        let length = response.remaining
        guard length == 2 || length == 16 else { throw .invalidResponse(.invalidValueLength(length)) }
        do { return try response.readUUID(length: length) } catch { throw .malformed(error) }
    }

    private mutating func appendIncludes(_ reader: consuming ByteReader) throws(GATTClientError) {
        let response: ReadByTypeResponse
        do { response = try ReadByTypeResponse(decoding: reader) } catch { throw .malformed(error) }
        let valueLength = Int(response.elementLength) - 2
        guard valueLength == 4 || valueLength == 6 else { throw .invalidResponse(.invalidValueLength(valueLength)) }
        var elements = response.makeIterator()
        while let element = elements.next() {
            let include: DiscoveredInclude
            do { include = try Self.decode(element) } catch { throw .malformed(error) }
            try cursor.move(past: include.declarationHandle)
            guard include.startHandle.rawValue > 0, include.endHandle >= include.startHandle else {
                throw .invalidResponse(.invalidRange(start: include.startHandle, end: include.endHandle))
            }
            found.append(include)
        }
        if valueLength == 6 { resolved = found.count }
    }

    private static func decode(
        _ element: borrowing ReadByTypeResponse.Element
    ) throws(DecodingFailure) -> DiscoveredInclude {
        var value = ByteReader(element.value)
        return DiscoveredInclude(
            declarationHandle: element.handle, startHandle: try value.readHandle(), endHandle: try value.readHandle(),
            uuid: BluetoothUUID(value.remaining == 0 ? 0 : try value.readUInt16()))
    }
}
