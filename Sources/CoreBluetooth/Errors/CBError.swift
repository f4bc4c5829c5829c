import Foundation

/// An error of the stack, or of a link.
///
/// It casts as on Apple's platforms: to `NSError` and back, and `catch CBError.invalidParameters` matches it.
public struct CBError: Error {
    /// The code of the error. Any number is a valid code.
    public enum Code: RawRepresentable, Hashable, Sendable {
        /// The error is unknown.
        case unknown
        /// A parameter is invalid.
        case invalidParameters
        /// An attribute's handle is not valid, or no longer valid.
        case invalidHandle
        /// The device is not connected.
        case notConnected
        /// There is no space left.
        case outOfSpace
        /// The operation was cancelled.
        case operationCancelled
        /// The supervision timeout passed, or the peer left a request unanswered.
        case connectionTimeout
        /// The peer ended the connection.
        case peripheralDisconnected
        /// The stack manages attributes of this type itself.
        case uuidNotAllowed
        /// The manager is already advertising.
        case alreadyAdvertising
        /// The connection could not be made.
        case connectionFailed
        /// The maximum number of connections has been reached.
        case connectionLimitReached
        /// The device is not known. The case has Apple's original, misspelled name.
        @available(*, deprecated, renamed: "unknownDevice")
        case unkownDevice
        /// The operation is not supported.
        case operationNotSupported
        /// The peer has removed its pairing information.
        case peerRemovedPairingInformation
        /// The link could not be encrypted in time.
        case encryptionTimedOut
        /// The maximum number of paired devices has been reached.
        case tooManyLEPairedDevices
        /// A peer has exceeded its notification limit. Not used here.
        case leGattExceededBackgroundNotificationLimit
        /// A peer is near its notification limit. Not used here.
        case leGattNearBackgroundNotificationLimit
        /// A code without a name.
        case _other(Int)

        /// Creates the code with this number; never nil. A number without a named case becomes `_other`.
        public init?(rawValue: Int) {
            switch rawValue {
            case 0: self = .unknown
            case 1: self = .invalidParameters
            case 2: self = .invalidHandle
            case 3: self = .notConnected
            case 4: self = .outOfSpace
            case 5: self = .operationCancelled
            case 6: self = .connectionTimeout
            case 7: self = .peripheralDisconnected
            case 8: self = .uuidNotAllowed
            case 9: self = .alreadyAdvertising
            case 10: self = .connectionFailed
            case 11: self = .connectionLimitReached
            case 12: self = .unknownDevice
            case 13: self = .operationNotSupported
            case 14: self = .peerRemovedPairingInformation
            case 15: self = .encryptionTimedOut
            case 16: self = .tooManyLEPairedDevices
            case 17: self = .leGattExceededBackgroundNotificationLimit
            case 18: self = .leGattNearBackgroundNotificationLimit
            default: self = ._other(rawValue)
            }
        }

        /// The number of the code in `CBErrorDomain`, the same as on Apple's platforms.
        public var rawValue: Int {
            switch self {
            case .unknown: 0
            case .invalidParameters: 1
            case .invalidHandle: 2
            case .notConnected: 3
            case .outOfSpace: 4
            case .operationCancelled: 5
            case .connectionTimeout: 6
            case .peripheralDisconnected: 7
            case .uuidNotAllowed: 8
            case .alreadyAdvertising: 9
            case .connectionFailed: 10
            case .connectionLimitReached: 11
            case .operationNotSupported: 13
            case .peerRemovedPairingInformation: 14
            case .encryptionTimedOut: 15
            case .tooManyLEPairedDevices: 16
            case .leGattExceededBackgroundNotificationLimit: 17
            case .leGattNearBackgroundNotificationLimit: 18
            case ._other(let value): value
            // The only remaining case is `unkownDevice`, which cannot be named without a warning.
            default: 12
            }
        }

        /// The description for the user.
        var text: String {
            switch self {
            case .unknown: "Unknown error."
            case .invalidParameters: "One or more parameters were invalid."
            case .invalidHandle: "The specified attribute handle is invalid."
            case .notConnected: "The specified device is not connected."
            case .outOfSpace: "The device has run out of space to complete the intended operation."
            case .operationCancelled: "The operation was cancelled."
            case .connectionTimeout: "The connection has timed out unexpectedly."
            case .peripheralDisconnected: "The specified device has disconnected from us."
            case .uuidNotAllowed: "The specified UUID is not allowed for this operation."
            case .alreadyAdvertising: "Advertising has already started."
            case .connectionFailed: "The connection has failed unexpectedly."
            case .connectionLimitReached: "The system has reached the maximum number of connections."
            case .operationNotSupported: "The operation is not supported."
            case .peerRemovedPairingInformation: "Peer removed pairing information"
            case .encryptionTimedOut: "Encryption timed out."
            case .tooManyLEPairedDevices: "Too many paired devices."
            case .leGattExceededBackgroundNotificationLimit: "The limit of notifications has been exceeded."
            case .leGattNearBackgroundNotificationLimit: "The limit of notifications is near."
            case ._other: "Unknown error."
            default: "The specified device is unknown."
            }
        }

        /// The device is not known.
        public static var unknownDevice: Code { misspelled() }

        private static func misspelled<Codes: HasMisspelledCode>() -> Codes { Codes.misspelledCode }

        /// Whether an error has this code.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? CBError)?.code == code
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

    /// The error is unknown.
    public static var unknown: Code { .unknown }
    /// A parameter is invalid.
    public static var invalidParameters: Code { .invalidParameters }
    /// An attribute's handle is not valid, or no longer valid.
    public static var invalidHandle: Code { .invalidHandle }
    /// The device is not connected.
    public static var notConnected: Code { .notConnected }
    /// There is no space left.
    public static var outOfSpace: Code { .outOfSpace }
    /// The operation was cancelled.
    public static var operationCancelled: Code { .operationCancelled }
    /// The supervision timeout passed, or the peer left a request unanswered.
    public static var connectionTimeout: Code { .connectionTimeout }
    /// The peer ended the connection.
    public static var peripheralDisconnected: Code { .peripheralDisconnected }
    /// The stack manages attributes of this type itself.
    public static var uuidNotAllowed: Code { .uuidNotAllowed }
    /// The manager is already advertising.
    public static var alreadyAdvertising: Code { .alreadyAdvertising }
    /// The connection could not be made.
    public static var connectionFailed: Code { .connectionFailed }
    /// The maximum number of connections has been reached.
    public static var connectionLimitReached: Code { .connectionLimitReached }
    /// The device is not known.
    public static var unknownDevice: Code { .unknownDevice }
    /// The operation is not supported.
    public static var operationNotSupported: Code { .operationNotSupported }
    /// The peer has removed its pairing information.
    public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
    /// The link could not be encrypted in time.
    public static var encryptionTimedOut: Code { .encryptionTimedOut }
    /// The maximum number of paired devices has been reached.
    public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
    /// A peer has exceeded its notification limit. Not used here.
    public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
    /// A peer is near its notification limit. Not used here.
    public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
    /// The same as `unknownDevice`.
    @available(*, deprecated, renamed: "unknownDevice")
    public static var unkownDevice: Code { .unknownDevice }
}

extension CBError: BridgedError {
    /// `CBErrorDomain`.
    public static var errorDomain: String { CBErrorDomain }
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

extension CBError: Hashable {
    /// Whether both errors have the same code. The user info is not compared.
    public static func == (lhs: CBError, rhs: CBError) -> Bool { lhs.code == rhs.code }

    // Not through `NSError`: its `hash` traps on this platform.
    /// Hashes the code, which alone determines equality.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// Only deprecated code can name a deprecated case without a warning, and only a protocol requirement can call that
/// code without one.
private protocol HasMisspelledCode {
    static var misspelledCode: Self { get }
}

extension CBError.Code: HasMisspelledCode {
    @available(*, deprecated, message: "use unknownDevice")
    fileprivate static var misspelledCode: Self { .unkownDevice }
}
