import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothSMP

/// The security gate of one link: its Security Manager and the result of pairing, whether the link is encrypted and with what,
/// and what waits for that.
struct LinkProtection: Hashable, Sendable {
    private var pairing: Pairing
    private var conclusion = PairingConclusion()
    private var encryption = LinkEncryption()
    /// The Security Request of a bonded peripheral that has not shown the key of its bond yet.
    private var heldRequest: AuthenticationRequirements?
    private var signedWrites = HeldSignedWrites()
    /// Whether values of the peer are not believed: it is bonded, and the link is not encrypted. Stored, because it is read for
    /// every notification.
    private(set) var isUntrusted = false

    init(pairing: Pairing) { self.pairing = pairing }

    /// When something is due.
    var nextDeadline: Instant? { earliest(pairing.nextDeadline, conclusion.deadline) }

    // MARK: - Pairing

    /// Whether a pairing is under way.
    var isPairing: Bool { pairing.isUnderWay }

    /// Whether another pairing can begin: none is under way, and the bond of the last one is not being stored.
    var canPair: Bool { !pairing.isUnderWay && !conclusion.isStoring }

    /// Whether a pairing that began now would wait for the back-off.
    func isPairingDelayed(_ resources: borrowing SecurityResources, at now: Instant) -> Bool {
        pairing.isDelayed(resources, at: now)
    }

    /// Whether a pairing is under way or not reported yet, or the encryption is starting.
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

    /// Takes a PDU of the peer. While a bond is being stored, the first one is held: it belongs to the next pairing.
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

    /// The key of the pairing for the encryption that the peer starts with this EDIV and Rand.
    func pairingKey(encryptedDiversifier: UInt16, random: UInt64) -> UInt128? {
        pairing.key(encryptedDiversifier: encryptedDiversifier, random: random)
    }

    /// Whether the pairing waits for the link to be encrypted with its key.
    var expectsPairingKey: Bool { pairing.strength != nil }

    /// Goes on with the pairing once the link is encrypted, or could not be.
    mutating func continuePairing(
        status: UInt8, isEncrypted: Bool, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        pairing.encryptionChanged(status: status, isEncrypted: isEncrypted, &resources, at: now)
    }

    // MARK: - Its result

    /// Whether the end of a pairing waits for the peer to receive what was sent last.
    var isUnconfirmed: Bool { conclusion.isUnconfirmed }

    /// Whether the bond of the last pairing is being stored.
    var isStoringBond: Bool { conclusion.isStoring }

    /// Takes an event of the result of a pairing.
    mutating func conclude(_ event: PairingConclusion.Event) -> PairingConclusion.Effect? { conclusion.handle(event) }

    /// The link has ended.
    ///
    /// - Returns: why pairings have failed that were not reported.
    mutating func linkEnded() -> [PairingError] {
        var errors: [PairingError] = []
        if case .reportFailure(let error) = conclusion.handle(.linkEnded) { errors.append(error) }
        for case .ended(.failure(let error)) in pairing.linkEnded() { errors.append(error) }
        return errors
    }

    // MARK: - Encryption

    /// The key whose use the controller has still to report.
    var expectedKey: LinkEncryption.Key? { encryption.expectedKey }

    /// What the link is encrypted with now; nil if it is not.
    var strength: KeyStrength? { encryption.strength }

    /// Notes that the controller is given a key. False where it still has to report on another.
    mutating func start(with key: LinkEncryption.Key) -> Bool { encryption.handle(.keyGiven(key)) == .sendKey }

    /// The controller reports that the link is encrypted.
    mutating func encrypted() -> LinkEncryption.Effect? { encryption.handle(.encrypted(pairing: pairing.strength)) }

    /// The controller reports that the link is not encrypted any more.
    mutating func decrypted() { _ = encryption.handle(.decrypted) }

    /// The controller could not use the key it was given: the link is as it was.
    ///
    /// - Returns: the key; nil if none was given.
    mutating func keyFailed() -> LinkEncryption.Key? {
        if case .reportFailure(let key) = encryption.handle(.keyFailed) { key } else { nil }
    }

    /// Keeps a Security Request until the link is encrypted with the key of the bond.
    mutating func hold(_ requirements: AuthenticationRequirements) {
        heldRequest = heldRequest?.union(requirements) ?? requirements
    }

    /// Removes and returns the request that was kept.
    mutating func takeHeldRequest() -> AuthenticationRequirements? {
        defer { heldRequest = nil }
        return heldRequest
    }

    /// The bond or the encryption may have changed.
    ///
    /// - Returns: what the GATT server judges by from now on.
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

    /// Holds a write until its counter is stored. False where there is no room.
    mutating func hold(_ write: HeldSignedWrites.Outgoing) -> Bool { signedWrites.hold(write) }
    mutating func hold(_ write: HeldSignedWrites.Incoming) -> Bool { signedWrites.hold(write) }

    mutating func takeOutgoingWrites() -> [HeldSignedWrites.Outgoing] { signedWrites.takeOutgoing() }

    /// Those whose counter is below the one that is stored.
    mutating func takeIncomingWrites(below counter: UInt32) -> [HeldSignedWrites.Incoming] {
        signedWrites.takeIncoming(below: counter)
    }
}
