import BluetoothBase

/// Why a server refuses a request: the Error Code of an ATT_ERROR_RSP (Core 5.4, Vol 3, Part F, 3.4.1.1, Table 3.4).
///
/// Any octet can arrive, so this is an open set. The named codes are constants, and `isApplicationError` and
/// `isCommonProfileError` identify the two ranges left to higher layers.
public struct ATTErrorCode: RawRepresentable, Hashable, Sendable {
    /// The Error Code octet of the ATT_ERROR_RSP. It may be a reserved value.
    public var rawValue: UInt8

    /// Creates an error code from its octet. Every value is accepted.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The attribute handle is not valid on this server.
    public static let invalidHandle = Self(rawValue: 0x01)
    /// The attribute cannot be read.
    public static let readNotPermitted = Self(rawValue: 0x02)
    /// The attribute cannot be written.
    public static let writeNotPermitted = Self(rawValue: 0x03)
    /// The PDU is malformed.
    public static let invalidPDU = Self(rawValue: 0x04)
    /// The attribute requires an authenticated link.
    public static let insufficientAuthentication = Self(rawValue: 0x05)
    /// The server does not support the request.
    public static let requestNotSupported = Self(rawValue: 0x06)
    /// The offset lies past the end of the attribute value.
    public static let invalidOffset = Self(rawValue: 0x07)
    /// The attribute requires authorization.
    public static let insufficientAuthorization = Self(rawValue: 0x08)
    /// The queue of prepared writes is full.
    public static let prepareQueueFull = Self(rawValue: 0x09)
    /// No attribute in the range of handles has the requested type.
    public static let attributeNotFound = Self(rawValue: 0x0A)
    /// The attribute cannot be read with ATT_READ_BLOB_REQ.
    public static let attributeNotLong = Self(rawValue: 0x0B)
    /// The key that encrypts the link is too short for this attribute.
    public static let encryptionKeySizeTooShort = Self(rawValue: 0x0C)
    /// The value is too long or too short for the attribute.
    public static let invalidAttributeValueLength = Self(rawValue: 0x0D)
    /// An unlikely error occurred that no other code describes.
    public static let unlikelyError = Self(rawValue: 0x0E)
    /// The attribute requires an encrypted link.
    public static let insufficientEncryption = Self(rawValue: 0x0F)
    /// The attribute type is not a grouping attribute defined by a higher layer specification.
    public static let unsupportedGroupType = Self(rawValue: 0x10)
    /// The server has no resources left to complete the request.
    public static let insufficientResources = Self(rawValue: 0x11)
    /// The client must rediscover the database before it continues.
    public static let databaseOutOfSync = Self(rawValue: 0x12)
    /// The attribute does not accept the value.
    public static let valueNotAllowed = Self(rawValue: 0x13)

    /// The write was refused for a reason other than permissions (Core Supplement, Part B, 1.2).
    public static let writeRequestRejected = Self(rawValue: 0xFC)
    /// A Client Characteristic Configuration descriptor is not configured as the profile requires.
    public static let clientCharacteristicConfigurationImproperlyConfigured = Self(rawValue: 0xFD)
    /// The request cannot be served while an earlier one is still in progress.
    public static let procedureAlreadyInProgress = Self(rawValue: 0xFE)
    /// The value lies outside the range the profile defines.
    public static let outOfRange = Self(rawValue: 0xFF)

    /// Whether a higher layer specification or the application defines the code: 0x80 to 0x9F.
    @inlinable
    public var isApplicationError: Bool { (0x80...0x9F).contains(rawValue) }

    /// Whether the Core Supplement, Part B, defines the code or reserves it for future use: 0xE0 to 0xFF.
    @inlinable
    public var isCommonProfileError: Bool { rawValue >= 0xE0 }
}

extension ATTErrorCode: CustomStringConvertible {
    /// The name that the specification gives the code; nil for a code without a name.
    public var name: String? {
        switch self {
        case .invalidHandle: "Invalid Handle"
        case .readNotPermitted: "Read Not Permitted"
        case .writeNotPermitted: "Write Not Permitted"
        case .invalidPDU: "Invalid PDU"
        case .insufficientAuthentication: "Insufficient Authentication"
        case .requestNotSupported: "Request Not Supported"
        case .invalidOffset: "Invalid Offset"
        case .insufficientAuthorization: "Insufficient Authorization"
        case .prepareQueueFull: "Prepare Queue Full"
        case .attributeNotFound: "Attribute Not Found"
        case .attributeNotLong: "Attribute Not Long"
        case .encryptionKeySizeTooShort: "Encryption Key Size Too Short"
        case .invalidAttributeValueLength: "Invalid Attribute Value Length"
        case .unlikelyError: "Unlikely Error"
        case .insufficientEncryption: "Insufficient Encryption"
        case .unsupportedGroupType: "Unsupported Group Type"
        case .insufficientResources: "Insufficient Resources"
        case .databaseOutOfSync: "Database Out Of Sync"
        case .valueNotAllowed: "Value Not Allowed"
        case .writeRequestRejected: "Write Request Rejected"
        case .clientCharacteristicConfigurationImproperlyConfigured:
            "Client Characteristic Configuration Descriptor Improperly Configured"
        case .procedureAlreadyInProgress: "Procedure Already In Progress"
        case .outOfRange: "Out of Range"
        default: nil
        }
    }

    /// The name and the number, for example `Invalid Handle (0x01)`.
    public var description: String {
        let number = "0x" + hexadecimal(rawValue)
        if let name { return "\(name) (\(number))" }
        if isApplicationError { return "Application Error (\(number))" }
        if isCommonProfileError { return "Common Profile Error (\(number))" }
        return "Reserved (\(number))"
    }
}
