/// An action that a `Pairing` requires from its caller.
public enum PairingEffect: Hashable, Sendable {
    case send(SecurityManagerPDU)
    /// Encrypt the link with this short-term or long-term key, with EDIV and Rand 0. Only for the central.
    case encrypt(key: UInt128)
    /// Ask the agent. Pass the answer to `Pairing.answer`.
    case ask(PairingQuestion)
    /// Show this to the user. No answer is expected.
    case show(PairingDisplay)
    /// The peer, as a peripheral, requests security: encrypt the link with an existing key, or pair.
    case securityRequested(AuthenticationRequirements)
    /// The pairing has ended. The last question and anything shown are no longer valid.
    case ended(Result<PairingResult, PairingError>)
}

/// A question that only the application or the user can answer.
public enum PairingQuestion: Hashable, Sendable {
    /// The peer asks to pair. Answer with `.accept` or `.refuse`.
    case consent(PairingFeatures)
    /// Answer with `.passkey`: the number that the peer shows, or the one that is also entered there.
    case enterPasskey
    /// Does the peer show the same number? Answer with `.accept` or `.refuse`.
    case compareNumbers(UInt32)
}

/// Information to show to the user.
public enum PairingDisplay: Hashable, Sendable {
    /// The passkey to enter on the peer, 0 to 999999, shown with six digits.
    case passkey(UInt32)
    /// The user's progress on the peer.
    case keypress(KeypressNotification)
}

/// The answer to a question.
public enum PairingAnswer: Hashable, Sendable {
    /// Yes. For `consent`, with the parameters of this device for the pairing; they are ignored for other questions.
    case accept(PairingParameters = PairingParameters())
    case refuse
    /// A passkey from 0 to 999999.
    case passkey(UInt32)
}

/// Why pairing failed.
@nonexhaustive
public enum PairingError: Error, Hashable, Sendable {
    /// This device refused, and has notified the peer.
    case local(PairingFailure)
    /// The peer refused.
    case peer(PairingFailure)
    /// The peer did not answer for 30 seconds. No further pairing is possible on this link (Vol 3, Part H, 3.4).
    case timedOut
    /// The link could not be encrypted with the new key, for the reason in the HCI status.
    case encryptionFailed(status: UInt8)
    /// The peer was asked to pair with a Security Request, and has encrypted the link with an existing key instead.
    case encryptedWithKnownKey
    /// The link ended.
    case disconnected
    /// The application cancelled the pairing.
    case cancelled
    /// The keys were exchanged, but could not be stored, for this reason; nil if the store did not answer in time. The
    /// peer may have stored them.
    case bondNotStored(BondStoreError?)
}
