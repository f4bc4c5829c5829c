import BluetoothBase
import BluetoothHCI

/// The parameters of a packet without a type in BluetoothHCI, of which no more is known than where the connection handle is.
struct LinkParameters {
    let handle: ConnectionHandle
    let text: String

    /// - Parameter offset: where the handle is: at the beginning, or at 1 behind a status.
    /// - Returns: nil if the parameters are too short for it.
    init?(_ parameters: Span<UInt8>, handleAt offset: Int) {
        let end = offset + 2
        guard parameters.count >= end else { return nil }
        handle = ConnectionHandle(rawValue: UInt16(parameters[offset]) | UInt16(parameters[offset + 1]) << 8)
        let status = offset == 1 ? "status \(HCIStatus(rawValue: parameters[0]))" : ""
        text = joined(status, "handle \(handle)", parameters.extracting(end..<parameters.count).hexadecimal())
    }
}
