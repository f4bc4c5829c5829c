import Foundation

/// An error response of a peer's server, or of this application to a peer (Core 5.4, Vol 3, Part F, 3.4.1.1).
///
/// It casts as on Apple's platforms: to `NSError` and back, and `catch CBATTError.invalidHandle` matches it.
public struct CBATTError: Error {
    /// The code of the error. Any number is a valid code.
    public enum Code: RawRepresentable, Hashable, Sendable {
        /// No error: the response to a request that succeeds.
        case success
        /// There is no attribute with this handle.
        case invalidHandle
        /// The attribute cannot be read.
        case readNotPermitted
        /// The attribute cannot be written.
        case writeNotPermitted
        /// The request is malformed.
        case invalidPdu
        /// The link must be authenticated first.
        case insufficientAuthentication
        /// The server does not support the request.
        case requestNotSupported
        /// The offset is past the end of the value.
        case invalidOffset
        /// The request requires authorization by the server first.
        case insufficientAuthorization
        /// Too many writes have been prepared.
        case prepareQueueFull
        /// No matching attribute was found.
        case attributeNotFound
        /// The attribute cannot be read with Read Blob Requests.
        case attributeNotLong
        /// The encryption key of the link is too short.
        case insufficientEncryptionKeySize
        /// The value is too long, or too short, for the attribute.
        case invalidAttributeValueLength
        /// The server could not carry out the request, and gives no specific reason.
        case unlikelyError
        /// The link must be encrypted first.
        case insufficientEncryption
        /// The attribute type is not a supported grouping attribute.
        case unsupportedGroupType
        /// The server has insufficient resources.
        case insufficientResources
        /// A code without a name.
        case _other(Int)

        /// Creates the code with this number; never nil. A number without a named case becomes `_other`.
        public init?(rawValue: Int) {
            switch rawValue {
            case 0: self = .success
            case 1: self = .invalidHandle
            case 2: self = .readNotPermitted
            case 3: self = .writeNotPermitted
            case 4: self = .invalidPdu
            case 5: self = .insufficientAuthentication
            case 6: self = .requestNotSupported
            case 7: self = .invalidOffset
            case 8: self = .insufficientAuthorization
            case 9: self = .prepareQueueFull
            case 10: self = .attributeNotFound
            case 11: self = .attributeNotLong
            case 12: self = .insufficientEncryptionKeySize
            case 13: self = .invalidAttributeValueLength
            case 14: self = .unlikelyError
            case 15: self = .insufficientEncryption
            case 16: self = .unsupportedGroupType
            case 17: self = .insufficientResources
            default: self = ._other(rawValue)
            }
        }

        /// The ATT error code (Core 5.4, Vol 3, Part F, 3.4.1.1); 0 for success.
        public var rawValue: Int {
            switch self {
            case .success: 0
            case .invalidHandle: 1
            case .readNotPermitted: 2
            case .writeNotPermitted: 3
            case .invalidPdu: 4
            case .insufficientAuthentication: 5
            case .requestNotSupported: 6
            case .invalidOffset: 7
            case .insufficientAuthorization: 8
            case .prepareQueueFull: 9
            case .attributeNotFound: 10
            case .attributeNotLong: 11
            case .insufficientEncryptionKeySize: 12
            case .invalidAttributeValueLength: 13
            case .unlikelyError: 14
            case .insufficientEncryption: 15
            case .unsupportedGroupType: 16
            case .insufficientResources: 17
            case ._other(let value): value
            }
        }

        /// The description for the user.
        var text: String {
            switch self {
            case .success: "Success."
            case .invalidHandle: "The handle is invalid."
            case .readNotPermitted: "Reading is not permitted."
            case .writeNotPermitted: "Writing is not permitted."
            case .invalidPdu: "The command is invalid."
            case .insufficientAuthentication: "Authentication is insufficient."
            case .requestNotSupported: "The request is not supported."
            case .invalidOffset: "The offset is invalid."
            case .insufficientAuthorization: "Authorization is insufficient."
            case .prepareQueueFull: "The prepare queue is full."
            case .attributeNotFound: "The attribute could not be found."
            case .attributeNotLong: "The attribute is not long."
            case .insufficientEncryptionKeySize: "The encryption key size is insufficient."
            case .invalidAttributeValueLength: "The value's length is invalid."
            case .unlikelyError: "Unlikely error."
            case .insufficientEncryption: "Encryption is insufficient."
            case .unsupportedGroupType: "The group type is unsupported."
            case .insufficientResources: "Resources are insufficient."
            case ._other: "Unknown ATT error."
            }
        }

        /// Whether an error has this code.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? CBATTError)?.code == code
        }
    }

    /// The reason for the error.
    public let code: Code
    private let information: Information

    /// Creates an error. Its description is that of the code, unless `userInfo` contains `NSLocalizedDescriptionKey`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        information = Information(userInfo)
    }

    /// Creates the error from an `NSError` of its domain.
    public init(_nsError error: NSError) {
        self.init(number: error.code, userInfo: error.userInfo)
    }

    /// The error as an `NSError`.
    public var _nsError: NSError { _bridgeToObjectiveC() }

    /// No error: the response to a request that succeeds.
    public static var success: Code { .success }
    /// There is no attribute with this handle.
    public static var invalidHandle: Code { .invalidHandle }
    /// The attribute cannot be read.
    public static var readNotPermitted: Code { .readNotPermitted }
    /// The attribute cannot be written.
    public static var writeNotPermitted: Code { .writeNotPermitted }
    /// The request is malformed.
    public static var invalidPdu: Code { .invalidPdu }
    /// The link must be authenticated first.
    public static var insufficientAuthentication: Code { .insufficientAuthentication }
    /// The server does not support the request.
    public static var requestNotSupported: Code { .requestNotSupported }
    /// The offset is past the end of the value.
    public static var invalidOffset: Code { .invalidOffset }
    /// The request requires authorization by the server first.
    public static var insufficientAuthorization: Code { .insufficientAuthorization }
    /// Too many writes have been prepared.
    public static var prepareQueueFull: Code { .prepareQueueFull }
    /// No matching attribute was found.
    public static var attributeNotFound: Code { .attributeNotFound }
    /// The attribute cannot be read with Read Blob Requests.
    public static var attributeNotLong: Code { .attributeNotLong }
    /// The encryption key of the link is too short.
    public static var insufficientEncryptionKeySize: Code { .insufficientEncryptionKeySize }
    /// The value is too long, or too short, for the attribute.
    public static var invalidAttributeValueLength: Code { .invalidAttributeValueLength }
    /// The server could not carry out the request, and gives no specific reason.
    public static var unlikelyError: Code { .unlikelyError }
    /// The link must be encrypted first.
    public static var insufficientEncryption: Code { .insufficientEncryption }
    /// The attribute type is not a supported grouping attribute.
    public static var unsupportedGroupType: Code { .unsupportedGroupType }
    /// The server has insufficient resources.
    public static var insufficientResources: Code { .insufficientResources }
}

extension CBATTError: BridgedError {
    /// `CBATTErrorDomain`.
    public static var errorDomain: String { CBATTErrorDomain }
    /// The number of the code, which is also the code of the `NSError`.
    public var errorCode: Int { code.rawValue }
    /// The user info. It always contains `NSLocalizedDescriptionKey`.
    public var userInfo: [String: Any] { information.described(as: code.text) }
    /// The user info of the `NSError`: the same as `userInfo`.
    public var errorUserInfo: [String: Any] { userInfo }
    /// The description that the error was created with. Without one, the description of its code, in English.
    public var localizedDescription: String { information.description ?? code.text }

    init(number: Int, userInfo: [String: Any]) {
        self.init(Code(rawValue: number) ?? ._other(number), userInfo: userInfo)
    }
}

extension CBATTError: Hashable {
    /// Whether both errors have the same code. The user info is not compared.
    public static func == (lhs: CBATTError, rhs: CBATTError) -> Bool { lhs.code == rhs.code }

    // Not through `NSError`: its `hash` traps on this platform.
    /// Hashes the code, which alone determines equality.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
