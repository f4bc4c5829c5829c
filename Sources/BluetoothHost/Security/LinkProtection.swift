import BluetoothBase
import BluetoothSMP

/// The security of one link: its Security Manager, and whether it is encrypted and with what.
struct LinkProtection: Sendable {
    /// A key that encrypts a link, by where it came from.
    enum Key: Equatable, Sendable {
        /// From the pairing that is under way: what it is worth, the pairing knows.
        case pairing
        /// From a bond.
        case bond(KeyStrength)
    }

    enum Encryption: Equatable, Sendable {
        case off
        /// The controller was given a key and has not reported yet.
        case starting(Key)
        case on(KeyStrength)
        /// As `starting`, on a link that is encrypted already.
        case refreshing(Key, from: KeyStrength)
    }

    var pairing: Pairing
    private(set) var encryption = Encryption.off

    /// What a pairing has led to whose last keys, or refusal, are still on their way to the peer, and when to stop waiting for
    /// that.
    var unconfirmed: (outcome: Result<PairingResult, PairingError>, until: Instant)?

    init(pairing: Pairing) { self.pairing = pairing }

    /// When something is due.
    var nextDeadline: Instant? { earliest(pairing.nextDeadline, unconfirmed?.until) }

    /// The key whose use the controller has still to report.
    var expectedKey: Key? {
        switch encryption {
        case .starting(let key), .refreshing(let key, _): key
        case .off, .on: nil
        }
    }

    /// What the link is encrypted with now; nil if it is not.
    var strength: KeyStrength? {
        switch encryption {
        case .off, .starting: nil
        case .on(let strength), .refreshing(_, let strength): strength
        }
    }

    /// The controller is given a key. False where it still has to report on another.
    mutating func start(with key: Key) -> Bool {
        switch encryption {
        case .off: encryption = .starting(key)
        case .on(let strength): encryption = .refreshing(key, from: strength)
        case .starting, .refreshing: return false
        }
        return true
    }

    /// The controller reports that the link is encrypted with the key it was given.
    mutating func succeed(_ strength: KeyStrength) { encryption = .on(strength) }

    /// The controller reports that it could not use the key: the link is as it was.
    mutating func fail() {
        switch encryption {
        case .starting: encryption = .off
        case .refreshing(_, let strength): encryption = .on(strength)
        case .off, .on: return
        }
    }

    /// The link is not encrypted any more.
    mutating func stop() { encryption = .off }
}
