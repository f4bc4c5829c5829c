import BluetoothBase

/// Any PDU of the Security Manager Protocol (Core 5.4, Vol 3, Part H, 3.3). All have a fixed length.
///
/// 128-bit values are integers: the protocol sends their least significant octet first.
public enum SecurityManagerPDU: Hashable, Sendable {
    case pairingRequest(PairingFeatures)
    case pairingResponse(PairingFeatures)
    case pairingConfirm(UInt128)
    case pairingRandom(UInt128)
    case pairingFailed(PairingFailure)
    case encryptionInformation(longTermKey: UInt128)
    case centralIdentification(encryptedDiversifier: UInt16, random: UInt64)
    case identityInformation(resolvingKey: UInt128)
    /// The address type and the address as received. The sender violates the protocol if the type is neither 0 nor 1.
    case identityAddressInformation(DeviceAddress)
    case signingInformation(signatureKey: UInt128)
    case securityRequest(AuthenticationRequirements)
    case pairingPublicKey(P256PublicKey)
    case pairingDHKeyCheck(UInt128)
    case pairingKeypressNotification(KeypressNotification)
}

/// The user's progress while entering a passkey (Vol 3, Part H, 3.5.8).
public enum KeypressNotification: UInt8, Sendable, CaseIterable {
    case entryStarted = 0
    case digitEntered = 1
    case digitErased = 2
    case cleared = 3
    case entryCompleted = 4
}
