import Foundation

/// An error of the stack, or of a link.
///
/// It casts as on Apple's platforms: to `NSError` and back, and a `catch CBError.invalidParameters` finds it.
public struct CBError: Error {
    /// What went wrong. Open: any number makes a code.
    public enum Code: RawRepresentable, Hashable, Sendable {
        /// The error has no name.
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
        /// The stack keeps attributes of this type itself.
        case uuidNotAllowed
        /// The manager advertises already.
        case alreadyAdvertising
        /// The connection could not be made.
        case connectionFailed
        /// The limit of connections is reached.
        case connectionLimitReached
        /// The device is not known. The original, misspelled name is the case.
        @available(*, deprecated, renamed: "unknownDevice")
        case unkownDevice
        /// This cannot be done here.
        case operationNotSupported
        /// The peer has forgotten that it was paired.
        case peerRemovedPairingInformation
        /// The link could not be encrypted in time.
        case encryptionTimedOut
        /// The limit of paired devices is reached.
        case tooManyLEPairedDevices
        /// A peer has exceeded its notification limit. Not used here.
        case leGattExceededBackgroundNotificationLimit
        /// A peer is near its notification limit. Not used here.
        case leGattNearBackgroundNotificationLimit
        /// A code without a name.
        case _other(Int)

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
            // The one left, which cannot be named without a warning: `unkownDevice`.
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

        /// Whether an error is this one.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? CBError)?.code == code
        }
    }

    public let code: Code
    private let information: Information

    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        information = Information(userInfo)
    }

    /// The error that an `NSError` of the domain stands for.
    public init(_nsError error: NSError) {
        self.init(number: error.code, userInfo: error.userInfo)
    }

    /// The error as an `NSError`.
    public var _nsError: NSError { _bridgeToObjectiveC() }

    /// The error has no name.
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
    /// The stack keeps attributes of this type itself.
    public static var uuidNotAllowed: Code { .uuidNotAllowed }
    /// The manager advertises already.
    public static var alreadyAdvertising: Code { .alreadyAdvertising }
    /// The connection could not be made.
    public static var connectionFailed: Code { .connectionFailed }
    /// The limit of connections is reached.
    public static var connectionLimitReached: Code { .connectionLimitReached }
    /// The device is not known.
    public static var unknownDevice: Code { .unknownDevice }
    /// This cannot be done here.
    public static var operationNotSupported: Code { .operationNotSupported }
    /// The peer has forgotten that it was paired.
    public static var peerRemovedPairingInformation: Code { .peerRemovedPairingInformation }
    /// The link could not be encrypted in time.
    public static var encryptionTimedOut: Code { .encryptionTimedOut }
    /// The limit of paired devices is reached.
    public static var tooManyLEPairedDevices: Code { .tooManyLEPairedDevices }
    /// A peer has exceeded its notification limit. Not used here.
    public static var leGattExceededBackgroundNotificationLimit: Code { .leGattExceededBackgroundNotificationLimit }
    /// A peer is near its notification limit. Not used here.
    public static var leGattNearBackgroundNotificationLimit: Code { .leGattNearBackgroundNotificationLimit }
    /// As `unknownDevice`.
    @available(*, deprecated, renamed: "unknownDevice")
    public static var unkownDevice: Code { .unknownDevice }
}

extension CBError: BridgedError {
    /// `CBErrorDomain`.
    public static var errorDomain: String { CBErrorDomain }
    public var errorCode: Int { code.rawValue }
    /// The user info; it always has `NSLocalizedDescriptionKey`.
    public var userInfo: [String: Any] { information.described(as: code.text) }
    public var errorUserInfo: [String: Any] { userInfo }
    public var localizedDescription: String { information.description ?? code.text }

    init(number: Int, userInfo: [String: Any]) {
        self.init(Code(rawValue: number) ?? ._other(number), userInfo: userInfo)
    }
}

extension CBError: Hashable {
    public static func == (lhs: CBError, rhs: CBError) -> Bool { lhs.code == rhs.code }

    // Not through `NSError`: its `hash` traps on this platform.
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
