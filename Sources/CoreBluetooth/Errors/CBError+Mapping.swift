import BluetoothLE

extension CBError {
    /// What an application is told of an error of the stack below: a `CBATTError` where the peer's server refused, else a
    /// `CBError`.
    ///
    /// - Parameter code: where there is none that fits better.
    static func error(for error: BluetoothError, orElse code: Code) -> any Error {
        switch error {
        case .att(let refusal): CBATTError(number: Int(refusal.code.rawValue), userInfo: [:])
        case .valueTooLong: CBATTError(.invalidAttributeValueLength)
        case .notFound: CBATTError(.attributeNotFound)
        case .notSupported: CBATTError(.requestNotSupported)
        case .disconnected(let reason): CBError(Code(reason))
        case .timedOut: CBError(.connectionTimeout)
        case .cancelled: CBError(.operationCancelled)
        case .adapterRemoved, .adapterClosed: CBError(.notConnected)
        case .overflow, .gatt(.tooManyOperations): CBError(.outOfSpace)
        case .host(.busy), .host(.controller(.connectionLimitExceeded)): CBError(.connectionLimitReached)
        case .host(.connectionFailedToBeEstablished): CBError(.connectionFailed)
        case .host(.unsupported): CBError(.operationNotSupported)
        case .invalidDefinition, .advertisingDataTooLong: CBError(.invalidParameters)
        case .transport, .adapter, .host, .gatt, .malformedValue, .messageIncomplete, .messageTooLong: CBError(code)
        }
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
        case .adapterReset, .adapterRemoved, .other: self = .connectionFailed
        }
    }
}
