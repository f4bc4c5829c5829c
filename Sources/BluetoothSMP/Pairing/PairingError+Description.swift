extension PairingError: CustomStringConvertible {
    /// One line that says what happened and how to fix it.
    public var description: String {
        switch self {
        case .local(let failure): "this device refused: \(failure)"
        case .peer(let failure): "the peer refused: \(failure)"
        case .timedOut: "no answer for 30 seconds; connect again before the next attempt"
        case .encryptionFailed(let status):
            "the link could not be encrypted with the new key (HCI status 0x"
                + String(status, radix: 16, uppercase: true) + "); pair again"
        case .disconnected: "the connection ended"
        case .cancelled: "cancelled"
        case .bondNotStored(let cause?): "the bond could not be stored: \(cause)"
        case .bondNotStored(nil): "the bond was not stored in time; check the disk, and pair again"
        case .encryptedWithKnownKey: "the link was encrypted with an existing key"
        }
    }
}
