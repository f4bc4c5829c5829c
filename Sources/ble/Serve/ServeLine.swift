import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothCommandLine

/// The output of a server about its peers' actions, which is the same on every bearer.
enum ServeLine {
    /// The description of a read request; nil if the PDU is something else.
    static func reading(_ pdu: [UInt8]) -> String? {
        guard pdu.count >= 3, pdu[0] == ATTOpcode.readRequest.rawValue || pdu[0] == ATTOpcode.readBlobRequest.rawValue
        else { return nil }
        let handle = AttributeHandle(UInt16(pdu[1]) | UInt16(pdu[2]) << 8)
        guard pdu[0] == ATTOpcode.readBlobRequest.rawValue, pdu.count >= 5 else { return "reads \(handle)" }
        return "reads \(handle) from offset \(UInt16(pdu[3]) | UInt16(pdu[4]) << 8)"
    }

    static func written(_ value: [UInt8], to handle: AttributeHandle) -> String {
        "writes \(handle): \(value.isEmpty ? "nothing" : value.hexadecimal())"
    }

    static func subscribed(to handle: AttributeHandle, _ configuration: GATTClientConfiguration) -> String {
        var kinds: [String] = []
        if configuration.contains(.notifications) { kinds.append("notifications") }
        if configuration.contains(.indications) { kinds.append("indications") }
        if kinds.isEmpty { return "unsubscribes from \(handle)" }
        return "subscribes to \(kinds.joined(separator: " and ")) of \(handle)"
    }

    /// The reason why a value was not sent.
    static func reason(of error: GATTServerError) -> String {
        switch error {
        case .notSubscribed(let handle): "the peer has not subscribed to \(handle)"
        case .insufficientSecurity(let code): "the link is not secure enough: \(code)"
        case .valueTooLong(let maximum):
            "the value is longer than the \(counted(maximum, "octet")) that fit into one PDU"
        default: "\(error)"
        }
    }
}
