import BluetoothHCI
import BluetoothLE

extension LEPHY {
    /// Its name without "LE"; of one that is not known its number.
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
    /// Both where they differ.
    var text: String {
        transmit == receive ? "LE \(transmit.text)" : "LE \(transmit.text) out, LE \(receive.text) in"
    }
}
