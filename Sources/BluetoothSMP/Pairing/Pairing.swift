import BluetoothBase

/// The Security Manager Protocol on one link, in the role of the link's initiator (central) or responder (peripheral)
/// (Core 5.4, Vol 3, Part H).
///
/// It is a pure state machine. PDUs, answers, reports from the controller and the time go in, and effects come out. The
/// caller carries them out in order.
public struct Pairing: Hashable, Sendable {
    let role: LinkRole
    let localAddress: DeviceAddress
    let remoteAddress: DeviceAddress
    private(set) var state = PairingState.idle
    /// When the Security Manager Timer expires.
    private var deadline: Instant?

    /// How long a peer may remain silent (Vol 3, Part H, 3.4).
    static let timeout = Duration.seconds(30)

    /// Creates the state machine for a new link, without a pairing.
    ///
    /// - Parameters:
    ///   - role: This device's role on the link.
    ///   - localAddress: The address that this device uses on the link.
    ///   - remoteAddress: The address that the peer uses on the link.
    public init(role: LinkRole, localAddress: DeviceAddress, remoteAddress: DeviceAddress) {
        self.role = role
        self.localAddress = localAddress
        self.remoteAddress = remoteAddress
    }

    /// Whether a pairing is in progress.
    public var isUnderWay: Bool {
        switch state {
        case .idle, .dead: false
        case .waiting, .requested, .consent, .awaitingResponse, .legacy, .publicKeys, .numbers, .passkey, .outOfBand,
            .check, .encryption, .distribution:
            true
        }
    }

    /// Whether a pairing is in progress that the peer can end.
    var isKnownToPeer: Bool {
        if case .waiting = state { false } else { isUnderWay }
    }

    /// When to call `fire`; nil if no deadline is pending.
    public var nextDeadline: Instant? {
        if case .waiting(let end, _) = state { end } else { deadline }
    }

    /// Whether an attempt started now by this device would wait, because the peer has recently failed to authenticate.
    public func isDelayed(_ resources: borrowing SecurityResources, at now: Instant) -> Bool {
        resources.attempts.localAttempt(with: remoteAddress, at: now) != nil
    }

    // MARK: - Calls

    /// Starts to pair: a central sends a Pairing Request, a peripheral a Security Request. The attempt always ends with
    /// `.ended`. Ignored while a pairing is in progress. If this peer has recently failed to authenticate, the attempt
    /// waits until the peer may try again, about a minute at most (Vol 3, Part H, 2.3.6).
    ///
    /// Even a peripheral that has started the attempt is asked for consent when the peer's Pairing Request arrives. The
    /// parameters of a peripheral are in its answer.
    public mutating func begin(
        _ parameters: PairingParameters, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        if isExpired(at: now) { return fire(at: now) }
        switch state {
        case .idle: break
        case .dead: return [.ended(.failure(.timedOut))]
        default: return []
        }
        let reaction: PairingReaction
        switch role {
        case .central:
            let features = PairingFeatures(request: parameters, resources)
            reaction = PairingReaction(.awaitingResponse(parameters, features), [.send(.pairingRequest(features))])
        case .peripheral:
            // A central takes what the request contains as required. What this device only requests follows in its
            // Pairing Response.
            var required = parameters
            required.requestsAuthentication = false
            let requirements = AuthenticationRequirements(required, resources.policy)
            reaction = PairingReaction(.requested, [.send(.securityRequest(requirements))])
        }
        if let end = resources.attempts.localAttempt(with: remoteAddress, at: now) {
            state = .waiting(until: end, reaction)
            return []
        }
        return enter(reaction, at: now)
    }

    /// Handles a PDU from the peer.
    public mutating func receive(
        _ pdu: Span<UInt8>, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        if isExpired(at: now) { return fire(at: now) }
        if case .dead = state { return [] }
        guard !pdu.isEmpty else { return [] }
        let message = Self.decoded(pdu)
        let octets = Self.integer(pdu)
        let effects = handled { (pairing) throws(PairingFailure) in
            let next = try pairing.reaction(to: try message.get(), octets: octets, &resources, at: now)
            return next.map { pairing.enter($0, hasReceived: true, at: now) } ?? []
        }
        resources.attempts.note(effects, of: remoteAddress, at: now)
        return effects
    }

    /// Answers the last question. Answers to other questions are ignored.
    public mutating func answer(
        _ answer: PairingAnswer, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        if isExpired(at: now) { return fire(at: now) }
        let effects = handled { (pairing) throws(PairingFailure) in
            guard let next = try pairing.reaction(to: answer, &resources) else { return [] }
            return pairing.enter(next, at: now)
        }
        resources.attempts.note(effects, of: remoteAddress, at: now)
        return effects
    }

    /// Notifies the peer of the user's progress in entering the passkey, if both devices requested that. Like every
    /// PDU, it restarts the Security Manager Timer (Vol 3, Part H, 3.4).
    public mutating func pressKey(_ key: KeypressNotification, at now: Instant) -> [PairingEffect] {
        if isExpired(at: now) { return fire(at: now) }
        guard case .passkey(let phase) = state, phase.tellsKeypresses else { return [] }
        return enter(PairingReaction(state, [.send(.pairingKeypressNotification(key))]), at: now)
    }

    /// The key for the encryption that the central starts with this EDIV and Rand; nil if this pairing has none.
    public func key(encryptedDiversifier: UInt16, random: UInt64) -> UInt128? {
        guard role == .peripheral, encryptedDiversifier == 0, random == 0, case .encryption(let phase) = state else {
            return nil
        }
        return phase.key
    }

    /// The strength of the key that the link is about to be encrypted with; nil if no encryption is expected.
    public var strength: KeyStrength? {
        if case .encryption(let phase) = state { phase.strength } else { nil }
    }

    /// Handles the controller's report that the link is encrypted, that its key has changed, or that encryption failed.
    ///
    /// The report is ignored unless encryption is expected. While `key(encryptedDiversifier:random:)` returns a key, a
    /// peripheral must not report encryption with any other key.
    ///
    /// - Parameter status: The HCI status, 0 for success.
    public mutating func encryptionChanged(
        status: UInt8, isEncrypted: Bool, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        if isExpired(at: now) { return fire(at: now) }
        let succeeded = status == 0 && isEncrypted
        switch state {
        case .requested:
            return succeeded ? end(.failure(.encryptedWithKnownKey)) : []
        // A peripheral already has what it was about to request. A central that pairs although a key exists wants a new
        // key.
        case .waiting:
            return succeeded && role == .peripheral ? end(.failure(.encryptedWithKnownKey)) : []
        case .encryption(let phase):
            guard succeeded else { return failEncryption(status) }
            let effects = handled { (pairing) throws(PairingFailure) in
                pairing.enter(try phase.encrypted(&resources), at: now)
            }
            resources.attempts.note(effects, of: remoteAddress, at: now)
            return effects
        case .distribution:
            return succeeded ? [] : failEncryption(status)
        case .idle, .dead, .consent, .awaitingResponse, .legacy, .publicKeys, .numbers, .passkey, .outOfBand, .check:
            return []
        }
    }

    /// Cancels the pairing and notifies the peer.
    public mutating func cancel() -> [PairingEffect] {
        switch state {
        case .idle, .dead: []
        // The peer has not started to pair, so there is nothing to send.
        case .waiting, .requested: end(.failure(.cancelled))
        case .consent, .awaitingResponse, .legacy, .publicKeys, .numbers, .passkey, .outOfBand, .check, .encryption,
            .distribution:
            [.send(.pairingFailed(reasonOfRefusal ?? .unspecifiedReason))] + end(.failure(.cancelled))
        }
    }

    /// Handles the end of the link.
    public mutating func linkEnded() -> [PairingEffect] {
        let effects = isUnderWay ? end(.failure(.disconnected)) : []
        state = .idle
        return effects
    }

    /// Handles deadlines that have passed.
    public mutating func fire(at now: Instant) -> [PairingEffect] {
        if case .waiting(let end, let reaction) = state { return end <= now ? enter(reaction, at: now) : [] }
        guard isExpired(at: now) else { return [] }
        let effects = end(.failure(.timedOut))
        state = .dead
        return effects
    }

    // MARK: - Common ends

    private func isExpired(at now: Instant) -> Bool {
        deadline.map { $0 <= now } ?? false
    }

    /// - Parameter hasReceived: Whether a PDU has arrived. A PDU that is sent restarts the timeout as well.
    private mutating func enter(
        _ reaction: PairingReaction, hasReceived: Bool = false, at now: Instant
    ) -> [PairingEffect] {
        state = reaction.state
        if !isUnderWay {
            deadline = nil
        } else if hasReceived || reaction.effects.contains(where: \.isSending) {
            deadline = now.advanced(by: Self.timeout)
        }
        return reaction.effects
    }

    private mutating func end(_ result: Result<PairingResult, PairingError>) -> [PairingEffect] {
        state = .idle
        deadline = nil
        return [.ended(result)]
    }

    /// Returns the result of `body`. If it throws, the peer is sent Pairing Failed, and the pairing ends.
    private mutating func handled(
        _ body: (inout Pairing) throws(PairingFailure) -> [PairingEffect]
    ) -> [PairingEffect] {
        do throws(PairingFailure) {
            return try body(&self)
        } catch {
            return [.send(.pairingFailed(error))] + (isKnownToPeer ? end(.failure(.local(error))) : [])
        }
    }

    private mutating func failEncryption(_ status: UInt8) -> [PairingEffect] {
        [.send(.pairingFailed(.unspecifiedReason))] + end(.failure(.encryptionFailed(status: status)))
    }
}

extension PairingEffect {
    fileprivate var isSending: Bool {
        if case .send = self { true } else { false }
    }
}
