import BluetoothBase

/// The state of a pairing. Each phase is a value that handles an input and returns its reaction.
// Indirect, because most links have no pairing, but their state is copied often.
indirect enum PairingState: Hashable, Sendable {
    case idle
    /// The peer did not answer in time: nothing more is sent or received until the link ends (Core 5.4, Vol 3, Part H,
    /// 3.4).
    case dead
    /// A local attempt that waits until a peer that failed to authenticate may try again. The peer does not know about
    /// it.
    case waiting(until: Instant, PairingReaction)
    /// A peripheral that has sent a Security Request.
    case requested
    /// A peripheral that waits for the application's consent.
    case consent(PairingFeatures, octets: UInt64)
    /// A central that has sent a Pairing Request.
    case awaitingResponse(PairingParameters, PairingFeatures)
    case legacy(LegacyAuthentication)
    case publicKeys(PublicKeyExchange)
    case numbers(NumericAuthentication)
    case passkey(PasskeyAuthentication)
    case outOfBand(OutOfBandAuthentication)
    case check(DHKeyCheck)
    case encryption(EncryptionStart)
    case distribution(KeyDistributionPhase)
}

/// The reaction to an input: the new state of the pairing, and the effects to carry out.
struct PairingReaction: Hashable {
    var state: PairingState
    var effects: [PairingEffect] = []

    init(_ state: PairingState, _ effects: [PairingEffect] = []) {
        self.state = state
        self.effects = effects
    }

    /// The same reaction, preceded by other effects.
    func after(_ effects: PairingEffect...) -> PairingReaction {
        PairingReaction(state, effects + self.effects)
    }
}
