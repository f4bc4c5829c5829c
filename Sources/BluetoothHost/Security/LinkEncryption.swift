import BluetoothSMP

/// Whether a link is encrypted and with what, and the key that the controller has not reported about.
struct LinkEncryption: Hashable, Sendable {
    /// A key that encrypts a link, by its origin.
    enum Key: Hashable, Sendable {
        /// From the pairing that is under way, which knows its strength.
        case pairing
        /// From a bond.
        case bond(KeyStrength)
    }

    private enum Phase: Hashable {
        case off
        /// The controller was given a key and has not reported yet.
        case starting(Key)
        case on(KeyStrength)
        /// As `starting`, on a link that is encrypted already.
        case refreshing(Key, from: KeyStrength)
    }

    private var phase = Phase.off

    enum Event: Hashable {
        /// The host wants to give the controller a key.
        case keyGiven(Key)
        /// The controller reports that it encrypts with the key it was given. The strength is that of the pairing's key; nil if no
        /// pairing expects encryption.
        case encrypted(pairing: KeyStrength?)
        /// The controller reports that it could not use the key: the link is as it was.
        case keyFailed
        /// The controller reports that the link is not encrypted any more.
        case decrypted
    }

    enum Effect: Hashable {
        /// The key goes to the controller.
        case sendKey
        /// The peer has shown that it has the key of its bond.
        case continueWithBond
        /// The link has the key that the pairing has waited for.
        case continuePairing
        /// The link has the key of a pairing that has ended meanwhile, whatever it had before. That key is worth nothing.
        case replaceKey
        /// Nobody here knows the key: it is worth nothing.
        case reportUnexpected
        case reportFailure(Key)
    }

    /// The key whose use the controller has still to report.
    var expectedKey: Key? {
        switch phase {
        case .starting(let key), .refreshing(let key, _): key
        case .off, .on: nil
        }
    }

    /// What the link is encrypted with now; nil if it is not.
    var strength: KeyStrength? {
        switch phase {
        case .off, .starting: nil
        case .on(let strength), .refreshing(_, let strength): strength
        }
    }

    /// Nil where nothing follows: a key is given while the controller has still to report on another, or a key has failed that was
    /// never given.
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

// MARK: - The table

extension LinkEncryption: StateMachine {
    enum PhaseName: String, CaseIterable { case off, starting, on, refreshing }

    enum EventName: String, CaseIterable { case keyGiven, encrypted, keyFailed, decrypted }

    static let transitions: [Transition<Self>] = [
        Transition(.off, .keyGiven, .starting), Transition(.off, .encrypted, .off),
        Transition(.starting, .encrypted, .on),
        // The key of a pairing that has ended meanwhile.
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
