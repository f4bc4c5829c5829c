import BluetoothLE

/// The failures of attempts at one thing so far, and whether another attempt makes sense.
struct AttemptHistory {
    enum Verdict {
        case again(after: Duration)
        case end(any Error)
    }

    /// How often a refusal is taken for the effect of a damaged packet.
    private static let refusalLimit = 3
    private static let longestPause = Duration.seconds(1)

    private var refusalCount = 0
    /// Before the next attempt. Each pause is twice as long as the one before.
    private var pause = Duration.milliseconds(100)
    /// The last error that says more than that the device was not found.
    private(set) var telling: (any Error)?

    /// - Parameter left: how much time there is for another attempt.
    mutating func verdict(after error: any Error, left: Duration) -> Verdict {
        guard let failure = error as? BluetoothError, mayPass(failure), left > pause else {
            let isAbsence = (error as? CommandFailure)?.isAbsence ?? false
            return .end(isAbsence ? telling ?? error : error)
        }
        telling = error
        defer { pause = min(pause * 2, Self.longestPause) }
        return .again(after: pause)
    }

    /// Whether another attempt may get over an error: the controller was reset, a packet was lost or damaged, or the link has
    /// ended. Damage is rare: a refusal again and again is meant.
    private mutating func mayPass(_ error: BluetoothError) -> Bool {
        if error.isLossOfController { return true }
        switch error {
        // The peer has lost its key, or is another device.
        case .disconnected(.encryption): return false
        case .connectionFailed, .peerNotResponding, .alreadyConnected, .disconnected(.supervisionTimeout): return true
        // A pairing that was interrupted: nobody has refused anything.
        case .pairingFailed(.disconnected), .pairingFailed(.timedOut), .pairingFailed(.encryptionFailed),
            .refusedByController, .disconnected, .timedOut, .answerLost, .servicesChanged, .dataLost, .invalidResponse:
            refusalCount += 1
            return refusalCount < Self.refusalLimit
        default: return false
        }
    }
}

extension BluetoothError {
    /// Whether this device's controller was reset or removed: that says nothing of the peer.
    public var isLossOfController: Bool {
        switch self {
        case .notReady, .adapterRemoved: true
        case .disconnected(let reason): reason == .adapterReset || reason == .adapterRemoved
        case .syncEnded(let end): end != .lost
        default: false
        }
    }
}
