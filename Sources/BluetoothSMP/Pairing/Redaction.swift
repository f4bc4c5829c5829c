// No text form of a value reveals a key, whatever a program prints, logs or dumps: neither `description`, which
// interpolation uses, nor `debugDescription`, nor the mirror, which `dump` uses.

extension LongTermKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text, `long-term key (hidden)`.
    public var description: String { "long-term key (hidden)" }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` shows no part of the key.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension DeviceIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address, and whether the device has a resolving key: 0 stands for none.
    public var description: String {
        "\(address), " + (resolvingKey == 0 ? "no identity key" : "identity key (hidden)")
    }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror with the address, and whether there is a resolving key, but not the key.
    public var customMirror: Mirror {
        Mirror(self, children: ["address": address, "hasResolvingKey": resolvingKey != 0])
    }
}

extension PairingResult: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Whether the devices are bonded or paired, and the strength. The keys are omitted.
    public var description: String { "\(isBonded ? "bonded" : "paired"), \(strength)" }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror that shows which keys exist, but not the keys.
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
    /// The kind of data, such as `temporary key (hidden)`, without the values.
    public var description: String {
        switch self {
        case .temporaryKey: "temporary key (hidden)"
        case .secureConnections: "confirm and random value (hidden)"
        }
    }

    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` shows none of the values.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension P256KeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text, `P-256 key pair (hidden)`.
    public var description: String { "P-256 key pair (hidden)" }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror with the public key only.
    public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

extension SecurityManagerPDU: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name of the PDU and its content, such as `Pairing Failed, the peer is busy`. Keys, confirm values
    /// and random values are hidden.
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

    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` shows no keys.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension PairingEffect: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The effect and its content, such as `send Pairing Confirm (hidden)`. Keys and passkeys are hidden.
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

    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` shows no keys.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Pairing: CustomReflectable {
    /// A mirror that shows only whether pairing is in progress.
    public var customMirror: Mirror { Mirror(self, children: ["isUnderWay": isUnderWay]) }
}
