/// Why pairing failed: the reason of a Pairing Failed PDU (Core 5.4, Vol 3, Part H, 3.5.5, Table 3.7).
public struct PairingFailure: RawRepresentable, Hashable, Error, Sendable {
    /// The Reason octet of the PDU. It may be a reserved value.
    public var rawValue: UInt8

    /// Creates a reason from its octet. Reserved values are accepted.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Passkey Entry Failed: for example, the user has cancelled the entry.
    public static let passkeyEntryFailed = Self(rawValue: 0x01)
    /// OOB Not Available: out-of-band data is required, and the device has none.
    public static let outOfBandNotAvailable = Self(rawValue: 0x02)
    /// Authentication Requirements: the input and output capabilities do not allow the required authentication.
    public static let authenticationRequirements = Self(rawValue: 0x03)
    /// Confirm Value Failed: the confirm value differs from the computed one, for example after a wrong passkey.
    public static let confirmValueFailed = Self(rawValue: 0x04)
    /// Pairing Not Supported: the device does not support pairing, or does not accept it now.
    public static let pairingNotSupported = Self(rawValue: 0x05)
    /// Encryption Key Size: the resulting key would be shorter than the device requires.
    public static let encryptionKeySize = Self(rawValue: 0x06)
    /// Command Not Supported: the code of the received command is unknown.
    public static let commandNotSupported = Self(rawValue: 0x07)
    /// Unspecified Reason: no other reason applies, or the device does not disclose it.
    public static let unspecifiedReason = Self(rawValue: 0x08)
    /// Repeated Attempts: not enough time has passed since the previous attempt.
    public static let repeatedAttempts = Self(rawValue: 0x09)
    /// Invalid Parameters: a command has a wrong length, or a parameter out of range.
    public static let invalidParameters = Self(rawValue: 0x0A)
    /// DHKey Check Failed: the peer's DHKey Check differs from the computed one.
    public static let dhKeyCheckFailed = Self(rawValue: 0x0B)
    /// Numeric Comparison Failed: the values that the two devices displayed were not confirmed to be equal.
    public static let numericComparisonFailed = Self(rawValue: 0x0C)
    /// BR/EDR Pairing In Progress: the devices are already pairing over BR/EDR.
    public static let classicPairingInProgress = Self(rawValue: 0x0D)
    /// Cross-transport Key Derivation/Generation Not Allowed: the key of one transport may not produce that of the
    /// other.
    public static let crossTransportKeyNotAllowed = Self(rawValue: 0x0E)
    /// Key Rejected: the device does not accept a key that the peer has distributed.
    public static let keyRejected = Self(rawValue: 0x0F)
    /// Busy: the device is not ready to pair now.
    public static let busy = Self(rawValue: 0x10)
}

extension PairingFailure: CustomStringConvertible {
    /// The reason in English, for users, or the number of a reserved reason, such as `reason 0x11`.
    public var description: String {
        switch self {
        case .passkeyEntryFailed: "the passkey was not entered"
        case .outOfBandNotAvailable: "out-of-band data is missing"
        case .authenticationRequirements: "the devices cannot authenticate each other as well as required"
        case .confirmValueFailed: "a passkey or a confirm value was wrong"
        case .pairingNotSupported: "pairing is not supported or not wanted"
        case .encryptionKeySize: "the encryption key would be too short"
        case .commandNotSupported: "a command was not understood"
        case .unspecifiedReason: "unspecified reason"
        case .repeatedAttempts: "too many attempts; wait before the next one"
        case .invalidParameters: "a parameter was invalid"
        case .dhKeyCheckFailed: "the DHKey check failed"
        case .numericComparisonFailed: "the numbers were not confirmed to be equal"
        case .classicPairingInProgress: "the devices are pairing over BR/EDR"
        case .crossTransportKeyNotAllowed: "a key of the other transport may not be used"
        case .keyRejected: "a key was rejected"
        case .busy: "the peer is busy"
        default: "reason 0x" + String(rawValue, radix: 16, uppercase: true)
        }
    }
}
