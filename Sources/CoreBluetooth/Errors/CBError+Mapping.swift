import BluetoothATT
import BluetoothAdapter
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP

extension CBError {
    /// The error that an application receives for an error of the stack: a `CBATTError` if the peer's server sent an
    /// error response, otherwise usually a `CBError`.
    ///
    /// - Parameter code: the code to use if no other fits better.
    static func error(for error: BluetoothError, orElse code: Code) -> any Error {
        reason(for: error, orElse: code)._bridgeToObjectiveC()
    }

    private static func reason(for error: BluetoothError, orElse code: Code) -> any BridgedError {
        switch error.kind {
        case .att(let refusal): CBATTError(number: Int(refusal.code.rawValue), userInfo: [:])
        case .valueTooLong: CBATTError(.invalidAttributeValueLength)
        case .notFound: CBATTError(.attributeNotFound)
        case .notSupported: CBError(.operationNotSupported)
        case .disconnected(let reason): CBError(Code(reason))
        case .timedOut, .peerNotResponding: CBError(.connectionTimeout)
        case .cancelled: CBError(.operationCancelled)
        case .adapterRemoved, .adapterClosed: CBError(.notConnected)
        case .tooManyPending: CBError(code == .connectionFailed ? .connectionLimitReached : .outOfSpace)
        case .overflow: CBError(.outOfSpace)
        case .refusedByController(.connectionLimitExceeded): CBError(.connectionLimitReached)
        case .connectionFailed: CBError(.connectionFailed)
        case .invalidDefinition, .advertisingDataTooLong, .invalidParameters: CBError(.invalidParameters)
        case .channelRefused(.refused(let result)) where result.wantsProtection:
            CBATTError(.insufficientAuthentication)
        case .channelRefused(.notSupported): CBError(.operationNotSupported)
        case .channelRefused(.timedOut): CBError(.connectionTimeout)
        case .channelRefused, .channelClosed, .channelReconfigurationFailed, .syncEnded: CBError(code)
        case .pairingFailed, .notBonded, .bondNotStored: CBATTError(.insufficientAuthentication)
        case .transport, .adapter, .answerLost, .notReady, .alreadyConnected, .refusedByController, .refusedByPeer,
            .notSubscribed,
            .insufficientSecurity, .requestExpired, .invalidResponse, .servicesChanged, .dataLost, .malformedValue,
            .messageIncomplete, .messageTooLong:
            CBError(code)
        }
    }
}

extension CreditBasedConnectionResult {
    /// Whether the channel was refused because the link's security is insufficient.
    fileprivate var wantsProtection: Bool {
        self == .insufficientAuthentication || self == .insufficientAuthorization || self == .insufficientEncryption
            || self == .encryptionKeySizeTooShort
    }
}

extension CBError.Code {
    fileprivate init(_ reason: DisconnectReason) {
        switch reason {
        case .byPeer, .peerShutDown, .unknown: self = .peripheralDisconnected
        case .supervisionTimeout, .transactionTimeout: self = .connectionTimeout
        case .byThisDevice: self = .operationCancelled
        case .encryption(.pinOrKeyMissing): self = .peerRemovedPairingInformation
        case .encryption: self = .encryptionTimedOut
        case .consumerTooSlow, .peerTooFast: self = .outOfSpace
        case .adapterReset, .adapterRemoved, .other: self = .connectionFailed
        }
    }
}
