import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothSMP

/// The security of one link: its Security Manager and the result of pairing, its encryption, and operations that wait
/// for them.
struct LinkProtection: Hashable, Sendable {
    private var pairing: Pairing
    private var conclusion = PairingConclusion()
    private var encryption = LinkEncryption()
    /// The Security Request of a bonded peripheral that has not yet proved that it has the key of its bond.
    private var heldRequest: AuthenticationRequirements?
    private var signedWrites = HeldSignedWrites()
    /// Whether values from the peer are ignored, because it is bonded and the link is not encrypted. Stored, because it
    /// is read for every notification.
    private(set) var isUntrusted = false

    init(pairing: Pairing) { self.pairing = pairing }

    /// The next time at which something is due.
    var nextDeadline: Instant? { earliest(pairing.nextDeadline, conclusion.deadline) }

    // MARK: - Pairing

    /// Whether a pairing is in progress.
    var isPairing: Bool { pairing.isUnderWay }

    /// Whether another pairing can start: none is in progress, and the bond of the last one is not being stored.
    var canPair: Bool { !pairing.isUnderWay && !conclusion.isStoring }

    /// Whether a pairing that started now would be delayed after earlier failures.
    func isPairingDelayed(_ resources: borrowing SecurityResources, at now: Instant) -> Bool {
        pairing.isDelayed(resources, at: now)
    }

    /// Whether a pairing is in progress or not reported yet, or encryption is starting.
    var isPending: Bool { pairing.isUnderWay || encryption.expectedKey != nil || conclusion.isPending }

    mutating func begin(
        _ parameters: PairingParameters, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        pairing.begin(parameters, &resources, at: now)
    }

    mutating func answer(
        _ answer: PairingAnswer, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        pairing.answer(answer, &resources, at: now)
    }

    /// Handles a PDU from the peer. While a bond is being stored, the first PDU is held, because it belongs to the next
    /// pairing.
    mutating func receive(
        _ pdu: Span<UInt8>, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        guard !conclusion.isStoring else {
            _ = conclusion.handle(.received(pdu.withUnsafeBufferPointer { Array($0) }))
            return []
        }
        return pairing.receive(pdu, &resources, at: now)
    }

    mutating func pressKey(_ key: KeypressNotification, at now: Instant) -> [PairingEffect] {
        pairing.pressKey(key, at: now)
    }

    mutating func cancelPairing() -> [PairingEffect] { pairing.cancel() }

    mutating func firePairing(at now: Instant) -> [PairingEffect] { pairing.fire(at: now) }

    /// The key of the pairing that matches EDIV and Rand in the peer's encryption request.
    func pairingKey(encryptedDiversifier: UInt16, random: UInt64) -> UInt128? {
        pairing.key(encryptedDiversifier: encryptedDiversifier, random: random)
    }

    /// Whether the pairing waits for encryption with its key.
    var expectsPairingKey: Bool { pairing.strength != nil }

    /// Continues the pairing after encryption has started or failed.
    mutating func continuePairing(
        status: UInt8, isEncrypted: Bool, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        pairing.encryptionChanged(status: status, isEncrypted: isEncrypted, &resources, at: now)
    }

    // MARK: - Result of pairing

    /// Whether the result of a pairing waits until the peer has received the last PDU.
    var isUnconfirmed: Bool { conclusion.isUnconfirmed }

    /// Whether the bond of the last pairing is being stored.
    var isStoringBond: Bool { conclusion.isStoring }

    /// Handles an event of a pairing's result.
    mutating func conclude(_ event: PairingConclusion.Event) -> PairingConclusion.Effect? { conclusion.handle(event) }

    /// Ends the pairing of a link that has ended.
    ///
    /// - Returns: the errors of pairings whose failure was not reported.
    mutating func linkEnded() -> [PairingError] {
        var errors: [PairingError] = []
        if case .reportFailure(let error) = conclusion.handle(.linkEnded) { errors.append(error) }
        for case .ended(.failure(let error)) in pairing.linkEnded() { errors.append(error) }
        return errors
    }

    // MARK: - Encryption

    /// The key whose use the controller has not reported yet.
    var expectedKey: LinkEncryption.Key? { encryption.expectedKey }

    /// The strength of the current encryption; nil if the link is not encrypted.
    var strength: KeyStrength? { encryption.strength }

    /// Notes that the controller is about to be given a key. Returns false if the result for another key is pending.
    mutating func start(with key: LinkEncryption.Key) -> Bool { encryption.handle(.keyGiven(key)) == .sendKey }

    /// Handles the controller's report that the link is encrypted.
    mutating func encrypted() -> LinkEncryption.Effect? { encryption.handle(.encrypted(pairing: pairing.strength)) }

    /// Handles the controller's report that the link is no longer encrypted.
    mutating func decrypted() { _ = encryption.handle(.decrypted) }

    /// Handles the controller's report that it could not use the key. The state of the link is unchanged.
    ///
    /// - Returns: the key; nil if none was given.
    mutating func keyFailed() -> LinkEncryption.Key? {
        if case .reportFailure(let key) = encryption.handle(.keyFailed) { key } else { nil }
    }

    /// Holds a Security Request until the link is encrypted with the key of the bond.
    mutating func hold(_ requirements: AuthenticationRequirements) {
        heldRequest = heldRequest?.union(requirements) ?? requirements
    }

    /// Removes and returns the held Security Request.
    mutating func takeHeldRequest() -> AuthenticationRequirements? {
        defer { heldRequest = nil }
        return heldRequest
    }

    /// Updates the state after the bond or the encryption may have changed.
    ///
    /// - Returns: the security on which the GATT server bases its decisions.
    mutating func settle(isBonded: Bool, isAuthorized: Bool) -> LinkSecurity {
        isUntrusted = isBonded && strength == nil
        var security = LinkSecurity(isBonded: isBonded, isAuthorized: isAuthorized)
        if let strength {
            security.isEncrypted = true
            security.isAuthenticated = strength.isAuthenticated
            security.usesSecureConnections = strength.usesSecureConnections
            security.encryptionKeySize = strength.keySize
        }
        return security
    }

    // MARK: - Signed writes

    /// Holds a write until its counter is stored. Returns false if there is no room.
    mutating func hold(_ write: HeldSignedWrites.Outgoing) -> Bool { signedWrites.hold(write) }
    mutating func hold(_ write: HeldSignedWrites.Incoming) -> Bool { signedWrites.hold(write) }

    mutating func takeOutgoingWrites() -> [HeldSignedWrites.Outgoing] { signedWrites.takeOutgoing() }

    /// Removes and returns the writes whose counter is below the stored one.
    mutating func takeIncomingWrites(below counter: UInt32) -> [HeldSignedWrites.Incoming] {
        signedWrites.takeIncoming(below: counter)
    }
}
