import BluetoothLE

/// The exit statuses of these executables. After a signal, the status is 128 plus the signal's number.
///
/// `Documentation/Commands.md` contains this table for users.
public enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    case failure = 1
    case usage = 2
    case notFound = 3
    case linkLost = 4
    case transportFailed = 5

    /// The meaning, in the words of each help text and of the documentation.
    public var meaning: String {
        switch self {
        case .success: "done"
        case .failure: "something outside Bluetooth failed, such as writing the output"
        case .usage: "the arguments are invalid, or name something that cannot be used"
        case .notFound: "nothing suitable was found in time"
        case .linkLost: "the link was lost, or the device did not respond as expected"
        case .transportFailed: "the controller cannot be reached, or has failed"
        }
    }
}

extension ExitStatus {
    /// The status for an error, regardless of its context. A caller for which a timeout means that nothing was found
    /// chooses the status itself.
    public init(_ error: BluetoothError) {
        self =
            switch error.kind {
            case .transport(let error): ExitStatus(error)
            case .adapter, .adapterClosed, .adapterRemoved, .notReady, .refusedByController,
                .alreadyConnected, .invalidParameters, .tooManyPending:
                .transportFailed
            case .disconnected, .connectionFailed, .refusedByPeer, .timedOut, .peerNotResponding, .answerLost, .att,
                .invalidResponse, .malformedValue,
                .messageIncomplete, .messageTooLong, .overflow, .dataLost, .servicesChanged, .notSubscribed,
                .insufficientSecurity, .requestExpired, .cancelled, .pairingFailed,
                .notBonded, .bondNotStored, .channelRefused, .channelClosed, .channelReconfigurationFailed, .syncEnded:
                .linkLost
            case .notFound, .notSupported: .notFound
            case .invalidDefinition, .advertisingDataTooLong, .valueTooLong: .usage
            }
    }

    /// The status for an error of a transport. A capture that cannot be written is not a failure of the controller.
    public init(_ error: TransportError) {
        if case .captureNotWritable = error.reason { self = .failure } else { self = .transportFailed }
    }
}
