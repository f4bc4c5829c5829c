/// Why pairing failed: the reason of a Pairing Failed PDU (Core 5.4, Vol 3, Part H, 3.5.5, Table 3.7).
public struct PairingFailure: RawRepresentable, Hashable, Error, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let passkeyEntryFailed = Self(rawValue: 0x01)
    public static let outOfBandNotAvailable = Self(rawValue: 0x02)
    public static let authenticationRequirements = Self(rawValue: 0x03)
    public static let confirmValueFailed = Self(rawValue: 0x04)
    public static let pairingNotSupported = Self(rawValue: 0x05)
    public static let encryptionKeySize = Self(rawValue: 0x06)
    public static let commandNotSupported = Self(rawValue: 0x07)
    public static let unspecifiedReason = Self(rawValue: 0x08)
    public static let repeatedAttempts = Self(rawValue: 0x09)
    public static let invalidParameters = Self(rawValue: 0x0A)
    public static let dhKeyCheckFailed = Self(rawValue: 0x0B)
    public static let numericComparisonFailed = Self(rawValue: 0x0C)
    public static let classicPairingInProgress = Self(rawValue: 0x0D)
    public static let crossTransportKeyNotAllowed = Self(rawValue: 0x0E)
    public static let keyRejected = Self(rawValue: 0x0F)
    public static let busy = Self(rawValue: 0x10)
}

extension PairingFailure: CustomStringConvertible {
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
