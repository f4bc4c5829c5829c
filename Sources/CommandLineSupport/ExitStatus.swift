import BluetoothLE

/// What the exit status of these executables says. One ended by a signal has 128 and the signal's number.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    /// Something outside Bluetooth failed, such as writing the output.
    case failure = 1
    /// The arguments make no sense, or name what cannot be used.
    case usage = 2
    /// What was looked for was not found in time.
    case notFound = 3
    /// The link was lost, or the peer did not do its part.
    case linkLost = 4
    /// The controller cannot be reached, or failed.
    case transportFailed = 5
}

extension ExitStatus {
    /// Of which sort an error is. It says nothing about what was going on: a caller for whom a time-out means that nothing
    /// was found says so by itself.
    public init(_ error: BluetoothError) {
        self =
            switch error {
            case .transport, .adapter, .adapterClosed, .adapterRemoved, .notReady, .refusedByController,
                .alreadyConnected, .invalidParameters, .tooManyPending:
                .transportFailed
            case .disconnected, .connectionFailed, .refusedByPeer, .timedOut, .att, .invalidResponse, .malformedValue,
                .messageIncomplete, .messageTooLong, .overflow, .dataLost, .servicesChanged, .notSubscribed,
                .insufficientSecurity, .requestExpired, .cancelled:
                .linkLost
            case .notFound, .notSupported: .notFound
            case .invalidDefinition, .advertisingDataTooLong, .valueTooLong: .usage
            }
    }
}
