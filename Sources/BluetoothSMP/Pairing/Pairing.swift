import BluetoothBase

/// The Security Manager Protocol on one link, in the role of the link's initiator (central) or responder (peripheral)
/// (Core 5.4, Vol 3, Part H).
///
/// It is pure: PDUs, answers, what the controller reports and time go in, effects come out, which the caller carries out
/// in order.
public struct Pairing: Hashable, Sendable {
    let role: LinkRole
    let local: DeviceAddress
    let peer: DeviceAddress
    var state = PairingState.idle
    /// When the Security Manager Timer runs out.
    private var deadline: Instant?

    /// How long a peer may be silent (Vol 3, Part H, 3.4).
    static let timeout = Duration.seconds(30)

    /// - Parameters:
    ///   - role: this device's role on the link.
    ///   - local: the address this device uses on the link.
    ///   - peer: the address the peer uses on the link.
    public init(role: LinkRole, local: DeviceAddress, peer: DeviceAddress) {
        self.role = role
        self.local = local
        self.peer = peer
    }

    /// Whether a pairing is under way.
    public var isUnderWay: Bool {
        switch state {
        case .idle, .dead: false
        case .waiting, .requested, .consent, .awaitingResponse, .legacy, .publicKeys, .numbers, .passkey, .outOfBand,
            .check, .encryption, .distribution:
            true
        }
    }

    /// Whether a pairing is under way that the peer can end.
    var isKnownToPeer: Bool {
        if case .waiting = state { false } else { isUnderWay }
    }

    /// When `fire` is to be called; nil if nothing is due.
    public var nextDeadline: Instant? {
        if case .waiting(let end, _) = state { end } else { deadline }
    }

    /// Whether an attempt of this device that began now would wait, because the peer has failed to authenticate itself a moment ago.
    public func isDelayed(_ resources: borrowing SecurityResources, at now: Instant) -> Bool {
        resources.attempts.localAttempt(with: peer, at: now) != nil
    }

    // MARK: - Calls

    /// Begins to pair: a central sends Pairing Request, a peripheral Security Request. Ends with `.ended` in any case.
    /// Ignored while a pairing is under way. Where this peer has failed to authenticate itself a moment ago, the attempt waits
    /// until the peer may try again, about a minute at most (Vol 3, Part H, 2.3.6).
    ///
    /// Even a peripheral that has begun is asked for its consent when the peer's Pairing Request comes. What it brings into the
    /// pairing is in the answer.
    public mutating func begin(
        _ parameters: PairingParameters, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        if isExpired(at: now) { return fire(at: now) }
        switch state {
        case .idle: break
        case .dead: return [.ended(.failure(.timedOut))]
        default: return []
        }
        let transition: Transition
        switch role {
        case .central:
            let features = PairingFeatures(request: parameters, resources)
            transition = Transition(.awaitingResponse(parameters, features), [.send(.pairingRequest(features))])
        case .peripheral:
            let requirements = AuthenticationRequirements(parameters, resources.policy)
            transition = Transition(.requested, [.send(.securityRequest(requirements))])
        }
        if let end = resources.attempts.localAttempt(with: peer, at: now) {
            state = .waiting(until: end, transition)
            return []
        }
        return enter(transition, at: now)
    }

    /// Handles a PDU of the peer.
    public mutating func receive(
        _ pdu: Span<UInt8>, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        if isExpired(at: now) { return fire(at: now) }
        if case .dead = state { return [] }
        guard !pdu.isEmpty else { return [] }
        let message = Self.decoded(pdu)
        let octets = Self.integer(pdu)
        let effects = handled { (pairing) throws(PairingFailure) in
            let next = try pairing.transition(try message.get(), octets: octets, &resources, at: now)
            return next.map { pairing.enter($0, hasReceived: true, at: now) } ?? []
        }
        resources.attempts.note(effects, of: peer, at: now)
        return effects
    }

    /// Answers the last question. Answers to others are ignored.
    public mutating func answer(
        _ answer: PairingAnswer, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        if isExpired(at: now) { return fire(at: now) }
        let effects = handled { (pairing) throws(PairingFailure) in
            guard let next = try pairing.transition(answer, &resources) else { return [] }
            return pairing.enter(next, at: now)
        }
        resources.attempts.note(effects, of: peer, at: now)
        return effects
    }

    /// Notifies the peer of the person's progress in entering the passkey, if both devices want that. It restarts the Security
    /// Manager Timer, as every PDU does (Vol 3, Part H, 3.4).
    public mutating func pressKey(_ key: KeypressNotification, at now: Instant) -> [PairingEffect] {
        if isExpired(at: now) { return fire(at: now) }
        guard case .passkey(let phase) = state, phase.tellsKeypresses else { return [] }
        return enter(Transition(state, [.send(.pairingKeypressNotification(key))]), at: now)
    }

    /// The key for the encryption that the peer, as central, starts with this EDIV and Rand; nil if this pairing has none.
    public func key(encryptedDiversifier: UInt16, random: UInt64) -> UInt128? {
        guard role == .peripheral, encryptedDiversifier == 0, random == 0, case .encryption(let phase) = state else {
            return nil
        }
        return phase.key
    }

    /// What the key is worth that encryption is expected with; nil if none is expected.
    public var strength: KeyStrength? {
        if case .encryption(let phase) = state { phase.strength } else { nil }
    }

    /// The controller reports that the link is encrypted, that its key was changed, or why not.
    ///
    /// It is only believed when an encryption is expected. A peripheral must not report encryption with another key than that of
    /// `key(encryptedDiversifier:random:)` while `key` gives one.
    ///
    /// - Parameter status: the status of HCI, 0 for success.
    public mutating func encryptionChanged(
        status: UInt8, isEncrypted: Bool, _ resources: inout SecurityResources, at now: Instant
    ) -> [PairingEffect] {
        if isExpired(at: now) { return fire(at: now) }
        let succeeded = status == 0 && isEncrypted
        switch state {
        case .requested:
            return succeeded ? end(.failure(.encryptedWithKnownKey)) : []
        // A peripheral has what it was about to ask for. A central that pairs although there is a key wants a new one.
        case .waiting:
            return succeeded && role == .peripheral ? end(.failure(.encryptedWithKnownKey)) : []
        case .encryption(let phase):
            guard succeeded else { return failEncryption(status) }
            let effects = handled { (pairing) throws(PairingFailure) in
                pairing.enter(try phase.encrypted(&resources), at: now)
            }
            resources.attempts.note(effects, of: peer, at: now)
            return effects
        case .distribution:
            return succeeded ? [] : failEncryption(status)
        case .idle, .dead, .consent, .awaitingResponse, .legacy, .publicKeys, .numbers, .passkey, .outOfBand, .check:
            return []
        }
    }

    /// Calls the pairing off; the peer is told.
    public mutating func cancel() -> [PairingEffect] {
        switch state {
        case .idle, .dead: []
        // The peer has not begun to pair, so that there is nothing to tell.
        case .waiting, .requested: end(.failure(.cancelled))
        case .consent, .awaitingResponse, .legacy, .publicKeys, .numbers, .passkey, .outOfBand, .check, .encryption,
            .distribution:
            [.send(.pairingFailed(reasonOfRefusal ?? .unspecifiedReason))] + end(.failure(.cancelled))
        }
    }

    /// The link has ended.
    public mutating func linkEnded() -> [PairingEffect] {
        let effects = isUnderWay ? end(.failure(.disconnected)) : []
        state = .idle
        return effects
    }

    /// Lets everything happen that is due.
    public mutating func fire(at now: Instant) -> [PairingEffect] {
        if case .waiting(let end, let transition) = state { return end <= now ? enter(transition, at: now) : [] }
        guard isExpired(at: now) else { return [] }
        let effects = end(.failure(.timedOut))
        state = .dead
        return effects
    }

    // MARK: - Common ends

    private func isExpired(at now: Instant) -> Bool {
        deadline.map { $0 <= now } ?? false
    }

    /// - Parameter hasReceived: whether a PDU has come. One that is sent restarts the time-out as well.
    private mutating func enter(
        _ transition: Transition, hasReceived: Bool = false, at now: Instant
    ) -> [PairingEffect] {
        state = transition.state
        if !isUnderWay {
            deadline = nil
        } else if hasReceived || transition.effects.contains(where: \.isSending) {
            deadline = now.advanced(by: Self.timeout)
        }
        return transition.effects
    }

    private mutating func end(_ result: Result<PairingResult, PairingError>) -> [PairingEffect] {
        state = .idle
        deadline = nil
        return [.ended(result)]
    }

    /// What `body` returns. Where it throws, the peer is told, and what is under way is given up.
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
