import BluetoothBase

/// Where a pairing stands. Each phase is a value that takes what comes and says what follows.
enum PairingState: Hashable, Sendable {
    case idle
    /// The peer has not answered in time: nothing more is sent or received until the link ends (Core 5.4, Vol 3, Part H, 3.4).
    case dead
    /// An attempt of this device that waits until a peer that failed to authenticate itself may try again. The peer knows
    /// nothing of it.
    indirect case waiting(until: Instant, Transition)
    /// A peripheral that has sent a Security Request.
    case requested
    /// A peripheral that has asked for consent.
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

/// What follows from an input: where the pairing stands now, and what is to be done.
struct Transition: Hashable {
    var state: PairingState
    var effects: [PairingEffect] = []

    init(_ state: PairingState, _ effects: [PairingEffect] = []) {
        self.state = state
        self.effects = effects
    }

    /// The same, after other effects.
    func after(_ effects: PairingEffect...) -> Transition {
        Transition(state, effects + self.effects)
    }
}
