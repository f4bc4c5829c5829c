import BluetoothATT
import BluetoothBase

/// Read Characteristic Value (Core 5.4, Vol 3, Part G, 4.8.1) and Read Long Characteristic Values (4.8.3), and the same
/// for descriptors (4.12.1, 4.12.2).
struct ValueRead: ClientProcedure {
    /// The longest value an attribute can have, in octets (Vol 3, Part F, 3.2.9).
    static let maximumLength = 512

    private let handle: AttributeHandle
    private let isLong: Bool
    private let firstOffset: Int
    private var value: [UInt8] = []
    private var isFirst = true
    /// ATT_MTU when the request was sent: the server's own request may raise it before the response arrives.
    private var requestMTU = 0

    init(handle: AttributeHandle, isLong: Bool, offset: UInt16 = 0) {
        self.handle = handle
        self.isLong = isLong
        firstOffset = Int(offset)
    }

    var result: GATTClientResult { .value(value) }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) {
        requestMTU = mtu
        let offset = firstOffset + value.count
        if offset == 0, isFirst {
            ReadRequest(handle: handle).encode(into: &writer)
        } else {
            ReadBlobRequest(handle: handle, offset: UInt16(clamping: offset)).encode(into: &writer)
        }
    }

    mutating func receive(_ response: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        let part = response.readRemaining()
        // The first part is usually the only one. Appending it to an empty array would allocate twice as much.
        if value.isEmpty { value = Array(part) } else { part.withUnsafeBufferPointer { value.append(contentsOf: $0) } }
        isFirst = false
        guard isLong else { return .finished }
        let length = firstOffset + value.count
        guard length <= Self.maximumLength else { throw .invalidResponse(.invalidValueLength(length)) }
        // Only a response that fills the PDU can be incomplete.
        return part.count < requestMTU - 1 || length == Self.maximumLength ? .finished : .request
    }

    mutating func receive(_ error: ATTError) throws(GATTClientError) -> ProcedureProgress {
        // After a response that was exactly full, a server may signal the end with either of these errors.
        guard !isFirst, error.code == .attributeNotLong || error.code == .invalidOffset else { throw .att(error) }
        return .finished
    }
}
