import BluetoothBase
import BluetoothHCI

/// The parameters of a packet without a type in BluetoothHCI. Only the position of the connection handle is known.
struct LinkParameters {
    let handle: ConnectionHandle
    let text: String

    /// - Parameter offset: the offset of the handle: 0, or 1 after a status.
    /// - Returns: nil if the parameters are too short.
    init?(_ parameters: Span<UInt8>, handleAt offset: Int) {
        let end = offset + 2
        guard parameters.count >= end else { return nil }
        handle = ConnectionHandle(rawValue: UInt16(parameters[offset]) | UInt16(parameters[offset + 1]) << 8)
        let status = offset == 1 ? "status \(HCIStatus(rawValue: parameters[0]))" : ""
        text = joined(status, "handle \(handle)", parameters.extracting(end..<parameters.count).hexadecimal())
    }
}
