import BluetoothBase
import BluetoothSMP

/// Formats the name and content of a Security Manager Protocol PDU (Core 5.4, Vol 3, Part H, 3.3). 128-bit values are
/// shown octet by octet, as sent.
struct SecurityManagerText {
    /// Whether to show distributed keys.
    var showsKeys: Bool

    /// The reasons for a failed pairing, by reason code (Table 3.7).
    private static let reasons: [String] = [
        "0x00", "Passkey Entry Failed", "OOB Not Available", "Authentication Requirements", "Confirm Value Failed",
        "Pairing Not Supported", "Encryption Key Size", "Command Not Supported", "Unspecified Reason",
        "Repeated Attempts", "Invalid Parameters", "DHKey Check Failed", "Numeric Comparison Failed",
        "BR/EDR Pairing In Progress", "Generation Not Allowed", "Key Rejected", "Busy",
    ]

    func text(_ pdu: Span<UInt8>, _ description: inout PacketDescription) -> String {
        guard !pdu.isEmpty else {
            return joined("SMP", description.malformed(DecodingFailure(.truncated(missing: 1), at: 0), pdu))
        }
        let code = pdu[0]
        description.securityManager = PacketDescription.SecurityManager(code: code)
        guard let name = SecurityManagerPDU.name(ofCode: code) else {
            return joined("SMP code 0x" + hexadecimal(code), pdu.extracting(1..<pdu.count).hexadecimal())
        }
        let isHidden = SecurityManagerPDU.isKey(code: code) && !showsKeys
        do throws(DecodingFailure) {
            let content = try SecurityManagerPDU(decoding: pdu)
            return "SMP \(name) " + (isHidden ? "(hidden)" : text(content, pdu))
        } catch {
            return joined("SMP \(name)", description.malformed(error, isHidden ? pdu.extracting(0..<0) : pdu))
        }
    }

    private func text(_ content: SecurityManagerPDU, _ pdu: Span<UInt8>) -> String {
        switch content {
        case .pairingRequest(let features), .pairingResponse(let features): text(features, pdu)
        case .pairingConfirm, .pairingRandom, .pairingDHKeyCheck, .encryptionInformation, .identityInformation,
            .signingInformation:
            pdu.extracting(1..<pdu.count).hexadecimal()
        case .pairingFailed(let reason):
            Int(reason.rawValue) < Self.reasons.count
                ? Self.reasons[Int(reason.rawValue)] : "0x" + hexadecimal(reason.rawValue)
        case .centralIdentification(let diversifier, _):
            "EDIV 0x\(hexadecimal(diversifier, digits: 4)) Rand \(pdu.extracting(3..<11).hexadecimal())"
        case .identityAddressInformation(let address): "address \(address)"
        case .securityRequest: "AuthReq " + requirements(pdu[1])
        case .pairingPublicKey:
            "X \(pdu.extracting(1..<33).hexadecimal()) Y \(pdu.extracting(33..<65).hexadecimal())"
        case .pairingKeypressNotification(let key): words("\(key)")
        }
    }

    /// Returns the content of a Pairing Request or Response (3.5.1). Reserved bits are read from the octets of the PDU.
    private func text(_ features: PairingFeatures, _ pdu: Span<UInt8>) -> String {
        let capability =
            switch features.ioCapability {
            case .displayOnly: "DisplayOnly"
            case .displayYesNo: "DisplayYesNo"
            case .keyboardOnly: "KeyboardOnly"
            case .noInputNoOutput: "NoInputNoOutput"
            case .keyboardDisplay: "KeyboardDisplay"
            }
        return joined(
            "IO", capability, features.hasOutOfBandData ? "OOB" : "", "AuthReq", requirements(pdu[3]), "key size",
            "\(features.maximumKeySize)", "initiator", keys(pdu[5]), "responder", keys(pdu[6]))
    }

    private func requirements(_ octet: UInt8) -> String {
        flags(octet, ["bonding", nil, "MITM", "SC", "keypress", "CT2"])
    }

    private func keys(_ octet: UInt8) -> String {
        flags(octet, ["EncKey", "IdKey", "SignKey", "LinkKey"])
    }

    /// Returns the names of the set bits, least significant first, or `none`. Bits without a name are shown as a
    /// number.
    private func flags(_ octet: UInt8, _ names: [String?]) -> String {
        var rest = octet
        var set: [String] = []
        for (bit, name) in names.enumerated() {
            guard let name, octet & 1 << UInt8(bit) != 0 else { continue }
            set.append(name)
            rest &= ~(1 << UInt8(bit))
        }
        if rest != 0 { set.append("0x" + hexadecimal(rest)) }
        return set.isEmpty ? "none" : set.joined(separator: "+")
    }
}
