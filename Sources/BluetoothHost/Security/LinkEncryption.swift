import BluetoothBase
import BluetoothSMP

/// The encryption state of a link, and the key whose use the controller has not reported yet.
struct LinkEncryption: Hashable, Sendable {
    /// The origin of a key that encrypts a link.
    enum Key: Hashable, Sendable {
        /// The pairing in progress, which knows the strength of the key.
        case pairing
        /// From a bond.
        case bond(KeyStrength)
    }

    private enum Phase: Hashable {
        case off
        /// The controller was given a key, and has not reported the result yet.
        case starting(Key)
        case on(KeyStrength)
        /// The same as `starting`, on a link that is already encrypted.
        case refreshing(Key, from: KeyStrength)
    }

    private var phase = Phase.off

    enum Event: Hashable {
        /// The host is about to give the controller a key.
        case keyGiven(Key)
        /// The controller reports that the link is encrypted with the given key. `pairing` is the strength of the
        /// pairing's key; nil if no pairing expects encryption.
        case encrypted(pairing: KeyStrength?)
        /// The controller reports that it could not use the key. The state of the link is unchanged.
        case keyFailed
        /// The controller reports that the link is no longer encrypted.
        case decrypted
    }

    enum Effect: Hashable {
        /// Sends the key to the controller.
        case sendKey
        /// Continues, because the peer has proved that it has the key of its bond.
        case continueWithBond
        /// Continues the pairing, because the link is encrypted with its key.
        case continuePairing
        /// The link is encrypted with the key of a pairing that has ended in the meantime, regardless of its previous
        /// key. That key provides no security.
        case replaceKey
        /// The host did not provide the key, so it provides no security.
        case reportUnexpected
        case reportFailure(Key)
    }

    /// The key whose use the controller has not reported yet.
    var expectedKey: Key? {
        switch phase {
        case .starting(let key), .refreshing(let key, _): key
        case .off, .on: nil
        }
    }

    /// The strength of the current encryption; nil if the link is not encrypted.
    var strength: KeyStrength? {
        switch phase {
        case .off, .starting: nil
        case .on(let strength), .refreshing(_, let strength): strength
        }
    }

    /// Handles an event. Returns nil if there is no effect, such as for a key given while another is pending, or a
    /// failure without a pending key.
    mutating func handle(_ event: Event) -> Effect? {
        switch event {
        case .keyGiven(let key):
            switch phase {
            case .off: phase = .starting(key)
            case .on(let strength): phase = .refreshing(key, from: strength)
            case .starting, .refreshing: return nil
            }
            return .sendKey
        case .encrypted(let pairing):
            switch expectedKey {
            case nil: return .reportUnexpected
            case .bond(let strength):
                phase = .on(strength)
                return .continueWithBond
            case .pairing:
                phase = pairing.map { .on($0) } ?? .off
                return pairing == nil ? .replaceKey : .continuePairing
            }
        case .keyFailed:
            guard let key = expectedKey else { return nil }
            phase = strength.map { .on($0) } ?? .off
            return .reportFailure(key)
        case .decrypted:
            phase = .off
            return nil
        }
    }
}

// MARK: - Transitions

extension LinkEncryption: StateMachine {
    enum PhaseName: String, CaseIterable { case off, starting, on, refreshing }

    enum EventName: String, CaseIterable { case keyGiven, encrypted, keyFailed, decrypted }

    static let transitions: [Transition<Self>] = [
        Transition(.off, .keyGiven, .starting), Transition(.off, .encrypted, .off),
        Transition(.starting, .encrypted, .on),
        // The key belongs to a pairing that has ended in the meantime.
        Transition(.starting, .encrypted, .off), Transition(.refreshing, .encrypted, .off),
        Transition(.starting, .keyFailed, .off), Transition(.starting, .decrypted, .off),
        Transition(.on, .keyGiven, .refreshing), Transition(.on, .encrypted, .on), Transition(.on, .decrypted, .off),
        Transition(.refreshing, .encrypted, .on), Transition(.refreshing, .keyFailed, .on),
        Transition(.refreshing, .decrypted, .off),
    ]

    var phaseName: PhaseName {
        switch phase {
        case .off: .off
        case .starting: .starting
        case .on: .on
        case .refreshing: .refreshing
        }
    }
}
