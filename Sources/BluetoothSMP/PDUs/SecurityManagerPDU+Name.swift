extension SecurityManagerPDU {
    /// The name that the specification gives the PDU with this code; nil for an unassigned code (Core 5.4, Vol 3, Part
    /// H, 3.3, Table 3.3).
    public static func name(ofCode code: UInt8) -> String? { SecurityManagerCode(rawValue: code)?.name }

    /// Whether a PDU with this code contains only a key.
    public static func isKey(code: UInt8) -> Bool {
        switch SecurityManagerCode(rawValue: code) {
        case .encryptionInformation, .identityInformation, .signingInformation: true
        default: false
        }
    }
}

extension SecurityManagerCode {
    fileprivate var name: String {
        switch self {
        case .pairingRequest: "Pairing Request"
        case .pairingResponse: "Pairing Response"
        case .pairingConfirm: "Pairing Confirm"
        case .pairingRandom: "Pairing Random"
        case .pairingFailed: "Pairing Failed"
        case .encryptionInformation: "Encryption Information"
        case .centralIdentification: "Central Identification"
        case .identityInformation: "Identity Information"
        case .identityAddressInformation: "Identity Address Information"
        case .signingInformation: "Signing Information"
        case .securityRequest: "Security Request"
        case .pairingPublicKey: "Pairing Public Key"
        case .pairingDHKeyCheck: "Pairing DHKey Check"
        case .pairingKeypressNotification: "Pairing Keypress Notification"
        }
    }
}
