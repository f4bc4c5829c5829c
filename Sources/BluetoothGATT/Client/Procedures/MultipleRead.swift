import BluetoothATT
import BluetoothBase

/// Read Multiple Characteristic Values (Core 5.4, Vol 3, Part G, 4.8.4), and Read Multiple Variable Length
/// Characteristic Values (4.8.5).
struct MultipleRead: ClientProcedure {
    private let handles: [AttributeHandle]
    private let isVariable: Bool
    private(set) var result: GATTClientResult

    init(_ handles: [AttributeHandle], isVariable: Bool) {
        self.handles = handles
        self.isVariable = isVariable
        result = isVariable ? .values([]) : .value([])
    }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) throws(GATTClientError) {
        let allowed = 2...max(2, (mtu - 1) / 2)
        guard allowed.contains(handles.count) else { throw .invalidHandleCount(allowed: allowed) }
        if isVariable {
            ReadMultipleVariableRequest.begin(into: &writer)
        } else {
            ReadMultipleRequest.begin(into: &writer)
        }
        for handle in handles { writer.append(handle) }
    }

    mutating func receive(_ reader: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        if isVariable {
            result = .values(try values(reader))
        } else {
            result = .value(Array(reader.readRemaining()))
        }
        return .finished
    }

    /// The values that fit completely in the response. A truncated value could be mistaken for a shorter one.
    private func values(_ reader: consuming ByteReader) throws(GATTClientError) -> [AttributeValue] {
        let response: ReadMultipleVariableResponse
        do { response = try ReadMultipleVariableResponse(decoding: reader) } catch { throw .malformed(error) }
        var values: [AttributeValue] = []
        var elements = response.makeIterator()
        while let element = elements.next(), !element.isTruncated {
            guard values.count < handles.count else { throw .invalidResponse(.invalidValueLength(element.value.count)) }
            values.append(AttributeValue(handle: handles[values.count], value: Array(element.value)))
        }
        return values
    }
}
