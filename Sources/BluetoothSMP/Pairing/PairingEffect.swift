/// What a `Pairing` asks of its caller.
public enum PairingEffect: Hashable, Sendable {
    case send(SecurityManagerPDU)
    /// Encrypt the link with this short-term or long-term key, EDIV and Rand 0. Only for the central.
    case encrypt(key: UInt128)
    /// Ask the agent. The answer comes back through `Pairing.answer`.
    case ask(PairingQuestion)
    /// Show this to a person; no answer is awaited.
    case show(PairingDisplay)
    /// The peer, as a peripheral, wants the link encrypted: with a key that is there, or by pairing.
    case securityRequested(AuthenticationRequirements)
    /// Pairing is over: the last question and what is shown are void.
    case ended(Result<PairingResult, PairingError>)
}

/// What only the application, or a person, can answer.
public enum PairingQuestion: Hashable, Sendable {
    /// The peer asks to pair. Answer with `.accept` or `.refuse`.
    case consent(PairingFeatures)
    /// Answer with `.passkey`: the number the peer shows, or the one entered there too.
    case enterPasskey
    /// Does the peer show the same number? Answer with `.accept` or `.refuse`.
    case compareNumbers(UInt32)
}

/// What a person is to see.
public enum PairingDisplay: Hashable, Sendable {
    /// The passkey to enter at the peer, 0 to 999999, shown with six digits.
    case passkey(UInt32)
    /// What the person does at the peer.
    case keypress(KeypressNotification)
}

/// The answer to a question.
public enum PairingAnswer: Hashable, Sendable {
    /// Yes. For `consent` with what this device brings into the pairing; ignored for other questions.
    case accept(PairingParameters = PairingParameters())
    case refuse
    /// 0 to 999999.
    case passkey(UInt32)
}

/// Why pairing failed.
public enum PairingError: Error, Hashable, Sendable {
    /// This device has refused the peer, and said so.
    case local(PairingFailure)
    /// The peer has refused.
    case peer(PairingFailure)
    /// The peer did not answer for 30 seconds. Nothing more can be paired on this link (Vol 3, Part H, 3.4).
    case timedOut
    /// The link could not be encrypted with the new key, for the reason that HCI gives.
    case encryptionFailed(status: UInt8)
    /// The peer, which was asked to pair by a Security Request, has encrypted the link with a key it has.
    case encryptedWithKnownKey
    /// The link has ended.
    case disconnected
    /// The application called it off.
    case cancelled
    /// The keys were exchanged, and could not be stored, or not in time. The peer may have kept them.
    case bondNotStored
}
