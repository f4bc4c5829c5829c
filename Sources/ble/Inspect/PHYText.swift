import BluetoothHCI
import BluetoothLE

extension LEPHY {
    /// The name of the PHY without "LE", or its number if it is unknown.
    var text: String {
        switch self {
        case .le1M: "1M"
        case .le2M: "2M"
        case .leCoded: "Coded"
        default: "PHY \(rawValue)"
        }
    }
}

extension LinkPHYs {
    /// One PHY, or both if they differ.
    var text: String {
        transmit == receive ? "LE \(transmit.text)" : "LE \(transmit.text) out, LE \(receive.text) in"
    }
}
