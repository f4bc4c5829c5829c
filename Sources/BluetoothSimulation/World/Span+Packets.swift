import BluetoothATT
import BluetoothBase

/// Queries on a complete packet, H4 indicator first.
extension Span<UInt8> {
    func word(_ offset: Int) -> UInt16 { UInt16(self[offset]) | UInt16(self[offset + 1]) << 8 }

    /// The connection handle if this is an LE Connection Complete or LE Enhanced Connection Complete event that reports
    /// a link (7.7.65.1, 7.7.65.10).
    var openedLink: UInt16? {
        guard count >= 22, self[0] == 4, self[1] == 0x3E, self[3] == 0x01 || self[3] == 0x0A, self[4] == 0 else {
            return nil
        }
        return word(5)
    }

    /// Whether the packet is a response or confirmation of ATT, or a response on the signaling channel.
    var isAnswer: Bool {
        guard count > 9, self[0] == 2, self[2] >> 4 & 0b11 != 0b01, self[8] == 0 else { return false }
        switch self[7] {
        case 4:
            let kind = ATTOpcode(rawValue: self[9])?.kind
            return kind == .response || kind == .confirmation
        // Connection Parameter Update Response (Vol 3, Part A, 4.21).
        case 5: return self[9] == 0x13
        default: return false
        }
    }
}

extension Span<UInt8> {
    func copied() -> [UInt8] { withUnsafeBufferPointer { Array($0) } }
}
