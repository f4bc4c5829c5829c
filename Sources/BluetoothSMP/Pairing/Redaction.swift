// No text form of a value shows a key, whatever a program prints, logs or dumps: neither `description`, which
// interpolation uses, nor `debugDescription`, nor the mirror, which `dump` uses.

extension LongTermKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "long-term key (hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension DeviceIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address. `resolvingKey` 0 is no key, and worth knowing.
    public var description: String {
        "\(address), " + (resolvingKey == 0 ? "no identity key" : "identity key (hidden)")
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["address": address, "hasResolvingKey": resolvingKey != 0])
    }
}

extension PairingResult: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(isBonded ? "bonded" : "paired"), \(strength)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "strength": strength, "isBonded": isBonded, "hasCentralKey": centralKey != nil,
                "hasPeripheralKey": peripheralKey != nil, "peerAddress": peerIdentity?.address as Any,
                "hasPeerSignatureKey": peerSignatureKey != nil, "hasLocalSignatureKey": localSignatureKey != nil,
            ])
    }
}

extension OutOfBandData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .temporaryKey: "temporary key (hidden)"
        case .secureConnections: "confirm and random value (hidden)"
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension P256KeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "P-256 key pair (hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

extension SecurityManagerPDU: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .pairingRequest(let features): "Pairing Request \(features)"
        case .pairingResponse(let features): "Pairing Response \(features)"
        case .pairingConfirm: "Pairing Confirm (hidden)"
        case .pairingRandom: "Pairing Random (hidden)"
        case .pairingFailed(let reason): "Pairing Failed, \(reason)"
        case .encryptionInformation: "Encryption Information (hidden)"
        case .centralIdentification: "Central Identification (hidden)"
        case .identityInformation: "Identity Information (hidden)"
        case .identityAddressInformation(let address): "Identity Address Information \(address)"
        case .signingInformation: "Signing Information (hidden)"
        case .securityRequest(let requirements): "Security Request \(requirements)"
        case .pairingPublicKey: "Pairing Public Key"
        case .pairingDHKeyCheck: "Pairing DHKey Check (hidden)"
        case .pairingKeypressNotification(let key): "Pairing Keypress Notification, \(key)"
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension PairingEffect: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .send(let pdu): "send \(pdu)"
        case .encrypt: "encrypt, key (hidden)"
        case .ask(let question): "ask \(question)"
        case .show(.passkey): "show a passkey (hidden)"
        case .show(let display): "show \(display)"
        case .securityRequested(let requirements): "security requested, \(requirements)"
        case .ended(let result): "ended, \(result)"
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Pairing: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: ["isUnderWay": isUnderWay]) }
}
