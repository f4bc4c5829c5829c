import BluetoothBase

/// The name and content of a PDU of the Security Manager Protocol (Core 5.4, Vol 3, Part H, 3.3).
struct SecurityManagerText {
    /// Whether distributed keys are shown.
    var showsKeys: Bool

    /// What is known about one code.
    private struct Layout {
        var name: String
        /// How many octets follow the code.
        var length: Int
        var isKey = false

        init(_ name: String, _ length: Int, isKey: Bool = false) {
            self.name = name
            self.length = length
            self.isKey = isKey
        }
    }

    /// By code; code 0 is not used.
    private static let layouts: [Layout?] = [
        nil,
        Layout("Pairing Request", 6), Layout("Pairing Response", 6), Layout("Pairing Confirm", 16),
        Layout("Pairing Random", 16), Layout("Pairing Failed", 1), Layout("Encryption Information", 16, isKey: true),
        Layout("Central Identification", 10), Layout("Identity Information", 16, isKey: true),
        Layout("Identity Address Information", 7), Layout("Signing Information", 16, isKey: true),
        Layout("Security Request", 1), Layout("Pairing Public Key", 64), Layout("Pairing DHKey Check", 16),
        Layout("Pairing Keypress Notification", 1),
    ]

    /// Why pairing failed, by reason code (Table 3.7).
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
        description.securityManager = PacketDescription.SecurityManager(code: pdu[0])
        let code = Int(pdu[0])
        let data = pdu.extracting(1..<pdu.count)
        guard code < Self.layouts.count, let layout = Self.layouts[code] else {
            return joined("SMP code 0x" + hexadecimal(pdu[0]), data.hexadecimal())
        }
        let name = "SMP " + layout.name
        guard data.count == layout.length else {
            let missing = layout.length - data.count
            let failure =
                missing > 0
                ? DecodingFailure(.truncated(missing: missing), at: pdu.count)
                : DecodingFailure(.trailingBytes(count: -missing), at: layout.length + 1)
            return joined(
                name, description.malformed(failure, layout.isKey && !showsKeys ? pdu.extracting(0..<0) : pdu))
        }
        return "\(name) \(text(data, code, layout))"
    }

    private func text(_ data: Span<UInt8>, _ code: Int, _ layout: Layout) -> String {
        if layout.isKey, !showsKeys { return "(hidden)" }
        switch code {
        case 0x01, 0x02: return features(data)
        case 0x05: return Int(data[0]) < Self.reasons.count ? Self.reasons[Int(data[0])] : "0x" + hexadecimal(data[0])
        case 0x0B: return "AuthReq " + authenticationRequirements(data[0])
        default: return data.hexadecimal()
        }
    }

    /// The six octets of a Pairing Request or Response (3.5.1).
    private func features(_ data: Span<UInt8>) -> String {
        let capabilities = [
            "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay",
        ]
        let io = Int(data[0]) < capabilities.count ? capabilities[Int(data[0])] : "0x" + hexadecimal(data[0])
        return joined(
            "IO", io, data[1] == 0 ? "" : "OOB", "AuthReq", authenticationRequirements(data[2]), "key size",
            "\(data[3])", "initiator", keys(data[4]), "responder", keys(data[5]))
    }

    private func authenticationRequirements(_ octet: UInt8) -> String {
        flags(octet, ["bonding", nil, "MITM", "SC", "keypress", "CT2"])
    }

    private func keys(_ octet: UInt8) -> String {
        flags(octet, ["EncKey", "IdKey", "SignKey", "LinkKey"])
    }

    /// The names of the bits set, least significant first, or `none`. Bits without a name are shown as a number.
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
