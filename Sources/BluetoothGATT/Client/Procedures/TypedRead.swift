import BluetoothATT
import BluetoothBase

/// Read Using Characteristic UUID (Core 5.4, Vol 3, Part G, 4.8.2).
struct TypedRead: SweepProcedure {
    private let uuid: BluetoothUUID
    private var cursor: HandleCursor
    private var found: [AttributeValue] = []

    init(_ uuid: BluetoothUUID, in handles: ClosedRange<AttributeHandle>) {
        self.uuid = uuid
        cursor = HandleCursor(handles)
    }

    var result: GATTClientResult { .values(found) }

    /// Whether a server has only one value of this type, so that another request would be a wasted round trip (7.2 to
    /// 7.4).
    private var isOnlyOne: Bool {
        uuid == .databaseHash || uuid == .clientSupportedFeatures || uuid == .serverSupportedFeatures
    }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) {
        ReadByTypeRequest(
            startingHandle: cursor.startingHandle, endingHandle: cursor.endingHandle, attributeType: uuid
        ).encode(into: &writer)
    }

    mutating func receive(_ reader: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        let response: ReadByTypeResponse
        do { response = try ReadByTypeResponse(decoding: reader) } catch { throw .malformed(error) }
        var elements = response.makeIterator()
        while let element = elements.next() {
            try cursor.move(past: element.handle)
            found.append(AttributeValue(handle: element.handle, value: Array(element.value)))
        }
        return cursor.isExhausted || isOnlyOne ? .finished : .request
    }

    mutating func receive(_ error: ATTError) throws(GATTClientError) -> ProcedureProgress {
        // If no value has been read, the error is the result. Otherwise the server has no more values, or the next one
        // may not be read; neither affects the values already read.
        guard !found.isEmpty else { throw .att(error) }
        return .finished
    }
}
