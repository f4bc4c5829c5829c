import BluetoothLE

/// The failed attempts at an operation so far, and whether another attempt is worthwhile.
struct AttemptHistory {
    enum Verdict {
        case again(after: Duration)
        case end(any Error)
    }

    /// The number of refusals that ends the attempts. Fewer may be the result of damaged packets.
    private static let refusalLimit = 3
    private static let longestPause = Duration.seconds(1)

    private var refusalCount = 0
    /// The delay before the next attempt. It doubles each time, up to a limit.
    private var pause = Duration.milliseconds(100)
    /// The last error that is more informative than that the device was not found.
    private(set) var telling: (any Error)?

    /// - Parameter left: the remaining time for another attempt.
    mutating func verdict(after error: any Error, left: Duration) -> Verdict {
        guard let failure = error as? BluetoothError, mayPass(failure), left > pause else {
            let isAbsence = (error as? CommandFailure)?.isAbsence ?? false
            return .end(isAbsence ? telling ?? error : error)
        }
        telling = error
        defer { pause = min(pause * 2, Self.longestPause) }
        return .again(after: pause)
    }

    /// Whether another attempt may resolve an error: the controller was reset, a packet was lost or damaged, or the
    /// link has ended. Damage is rare, so repeated refusals are considered deliberate.
    private mutating func mayPass(_ error: BluetoothError) -> Bool {
        if error.isLossOfController { return true }
        switch error.kind {
        // The peer has lost its key, or is another device.
        case .disconnected(.encryption): return false
        case .connectionFailed, .peerNotResponding, .alreadyConnected, .disconnected(.supervisionTimeout): return true
        // The pairing was interrupted. Neither device has refused it.
        case .pairingFailed(.disconnected), .pairingFailed(.timedOut), .pairingFailed(.encryptionFailed),
            .refusedByController, .disconnected, .timedOut, .answerLost, .servicesChanged, .dataLost, .invalidResponse:
            refusalCount += 1
            return refusalCount < Self.refusalLimit
        default: return false
        }
    }
}

extension BluetoothError {
    /// Whether this device's controller was reset or removed, which says nothing about the peer.
    public var isLossOfController: Bool {
        switch kind {
        case .notReady, .adapterRemoved: true
        case .disconnected(let reason): reason == .adapterReset || reason == .adapterRemoved
        case .syncEnded(let end): end != .lost
        default: false
        }
    }
}
