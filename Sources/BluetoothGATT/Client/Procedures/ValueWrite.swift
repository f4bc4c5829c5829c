import BluetoothATT
import BluetoothBase

/// Write Characteristic Value (Core 5.4, Vol 3, Part G, 4.9.3), and the same for descriptors (4.12.3).
struct ValueWrite: ClientProcedure {
    private let handle: AttributeHandle
    private let value: [UInt8]

    init(handle: AttributeHandle, value: [UInt8]) {
        self.handle = handle
        self.value = value
    }

    var result: GATTClientResult { .written }

    mutating func writeRequest(mtu: Int, into writer: inout ByteWriter) throws(GATTClientError) {
        guard value.count <= mtu - 3 else { throw .valueTooLong(maximum: mtu - 3) }
        WriteRequest(handle: handle, value: value.span).encode(into: &writer)
    }

    mutating func receive(_ response: consuming ByteReader, mtu: Int) throws(GATTClientError) -> ProcedureProgress {
        do { _ = try WriteResponse(decoding: response) } catch { throw .malformed(error) }
        return .finished
    }
}
