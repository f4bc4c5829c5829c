import BluetoothATT
import BluetoothGATT
import BluetoothHost
import BluetoothSMP
import DBus

/// BlueZ's errors. Clients compare the names, and some parse the texts.
extension BusError {
    static func bluez(_ name: String, _ message: String) -> BusError {
        BusError(name: "org.bluez.Error." + name, message: message)
    }

    static let invalidArguments = invalidArguments("Invalid arguments in method call")
    static func invalidArguments(_ message: String) -> BusError { bluez("InvalidArguments", message) }
    static let inProgress = bluez("InProgress", "In Progress")
    static let busy = bluez("InProgress", "Operation already in progress")
    static let alreadyExists = bluez("AlreadyExists", "Already Exists")
    static let doesNotExist = bluez("DoesNotExist", "Does Not Exist")
    static let notSupported = bluez("NotSupported", "Operation is not supported")
    static let notConnected = bluez("NotConnected", "Not Connected")
    static let notReady = bluez("NotReady", "Resource Not Ready")
    static let notAuthorized = bluez("NotAuthorized", "Operation Not Authorized")
    static func notPermitted(_ message: String) -> BusError { bluez("NotPermitted", message) }
    static func failed(_ message: String) -> BusError { bluez("Failed", message) }

    // MARK: - Operations on attributes

    /// The error of a read or write that the peer refused, or that could not be carried out.
    static func attribute(_ error: HostError) -> BusError {
        switch error {
        case .client(.att(let refusal)): att(refusal.code)
        case .client(.valueTooLong): invalidArguments("Invalid Length")
        case .disconnected, .noSuchLink, .adapterRemoved, .controllerReset, .notReady: failed("Not connected")
        case .timedOut, .client(.transactionTimedOut): failed("Operation failed with ATT error: 0x0e")
        default: failed("Operation failed")
        }
    }

    private static func att(_ code: ATTErrorCode) -> BusError {
        switch code {
        case .readNotPermitted: notPermitted("Read not permitted")
        case .writeNotPermitted: notPermitted("Write not permitted")
        case .insufficientAuthentication, .insufficientEncryption, .encryptionKeySizeTooShort:
            notPermitted("Not paired")
        case .invalidOffset: invalidArguments("Invalid offset")
        case .invalidAttributeValueLength: invalidArguments("Invalid Length")
        case .insufficientAuthorization: notAuthorized
        case .requestNotSupported: notSupported
        default: failed("Operation failed with ATT error: 0x\(TextForm.octet(code.rawValue))")
        }
    }

    // MARK: - Connecting

    static func connecting(_ error: HostError) -> BusError {
        switch error {
        case .cancelled: failed("le-connection-abort-by-local")
        case .timedOut, .peerNotResponding: failed("le-connection-abort-by-local")
        case .connectionFailedToBeEstablished, .disconnected: failed("le-connection-abort-by-remote")
        case .busy: failed("le-connection-concurrent-connection-limit")
        case .adapterRemoved, .notReady, .controllerReset: failed("le-connection-adapter-not-powered")
        case .unsupported: failed("le-connection-not-supported")
        case .invalidParameters: failed("le-connection-invalid-arguments")
        default: failed("le-connection-unknown")
        }
    }

    // MARK: - Pairing

    static let authenticationFailed = bluez("AuthenticationFailed", "Authentication Failed")
    static let authenticationCanceled = bluez("AuthenticationCanceled", "Authentication Canceled")
    static let authenticationRejected = bluez("AuthenticationRejected", "Authentication Rejected")
    static let authenticationTimeout = bluez("AuthenticationTimeout", "Authentication Timeout")
    static let connectionAttemptFailed = bluez("ConnectionAttemptFailed", "Page Timeout")

    static func pairing(_ error: HostError) -> BusError {
        switch error {
        case .pairing(.timedOut), .timedOut: authenticationTimeout
        case .pairing(.disconnected), .pairing(.cancelled), .cancelled, .disconnected, .noSuchLink, .adapterRemoved:
            authenticationCanceled
        case .busy: authenticationRejected
        default: authenticationFailed
        }
    }
}
