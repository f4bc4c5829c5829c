import BluetoothLE

/// The exit statuses of these executables. After a signal it is 128 plus the signal's number.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    /// Something outside Bluetooth failed, such as writing the output.
    case failure = 1
    /// The arguments are invalid, or name something that cannot be used.
    case usage = 2
    /// Nothing suitable was found in time.
    case notFound = 3
    /// The link was lost, or the peer did not respond as expected.
    case linkLost = 4
    /// The controller cannot be reached, or has failed.
    case transportFailed = 5
}

extension ExitStatus {
    /// The status for an error, regardless of its context: a caller for which a timeout means that nothing was found
    /// chooses the status itself.
    public init(_ error: BluetoothError) {
        self =
            switch error {
            case .transport, .adapter, .adapterClosed, .adapterRemoved, .notReady, .refusedByController,
                .alreadyConnected, .invalidParameters, .tooManyPending:
                .transportFailed
            case .disconnected, .connectionFailed, .refusedByPeer, .timedOut, .peerNotResponding, .att,
                .invalidResponse, .malformedValue,
                .messageIncomplete, .messageTooLong, .overflow, .dataLost, .servicesChanged, .notSubscribed,
                .insufficientSecurity, .requestExpired, .cancelled, .pairingFailed,
                .notBonded:
                .linkLost
            case .notFound, .notSupported: .notFound
            case .invalidDefinition, .advertisingDataTooLong, .valueTooLong: .usage
            }
    }
}
