import BluetoothBase
import BluetoothCrypto
import BluetoothSMP

/// A device that pairs, and a peer that keeps to the protocol as long as the fuzzer lets it.
struct PairingBench {
    private let role: LinkRole
    private var pairing: Pairing
    private var resources: SecurityResources
    private let parameters: PairingParameters
    private let policy: SecurityPolicy
    private var peer: Peer
    private var now = Instant.zero

    /// What must have been done before a pairing may succeed.
    private struct Progress {
        /// The person here wants it.
        var isWanted = false
        var question: PairingQuestion?
        /// The passkey that the person here has read, or entered.
        var passkey: UInt32?
        var isNumberAccepted = false
        /// The key that the controller is to use, as the central.
        var key: UInt128?
        var isEncrypted = false
    }
    private var progress = Progress()
    private var isDead = false
    /// The device's own attempt waits for the back-off, and has sent nothing.
    private var isBackingOff = false
    /// The peer's PDUs that have not arrived, and the last one that has.
    private var incoming: [[UInt8]] = []
    private var last: [UInt8] = []

    /// How many PDUs of the peer are kept: an honest one sends no more without an answer.
    private static let maximumIncoming = 64
    /// The longest PDU (Core 5.4, Vol 3, Part H, 3.2).
    private static let mtu = 65

    init(_ input: inout FuzzInput) {
        role = input.choice(of: 2) == 0 ? .central : .peripheral
        policy = input.securityPolicy()
        parameters = input.pairingParameters()
        let addresses = [
            DeviceAddress(0xC000_0000_0001, kind: .random), DeviceAddress(0xA000_0000_0002, kind: .public),
        ]
        pairing = Pairing(role: role, localAddress: addresses[0], remoteAddress: addresses[1])
        resources = SecurityResources(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: 1), policy: policy,
            identity: DeviceIdentity(address: addresses[0], resolvingKey: 1))
        peer = Peer(
            role == .central ? .peripheral : .central, local: addresses[1], peer: addresses[0],
            policy: input.securityPolicy(), parameters: input.pairingParameters())
    }

    // MARK: The application and the person

    mutating func begin() throws(FuzzViolation) {
        // A peripheral only asks for a pairing: what it wants is in the answer to the question of consent.
        let isNew = !pairing.isUnderWay
        if isNew, role == .central { progress.isWanted = true }
        let effects = pairing.begin(parameters, &resources, at: now)
        isBackingOff = isBackingOff || isNew && effects.isEmpty && pairing.isUnderWay
        try carryOut(effects)
        peer.begin(at: now, &incoming)
    }

    mutating func answer(_ answer: PairingAnswer) throws(FuzzViolation) {
        switch (progress.question, answer) {
        case (.consent, .accept): progress.isWanted = true
        case (.enterPasskey, .passkey(let passkey)): progress.passkey = passkey
        case (.compareNumbers, .accept): progress.isNumberAccepted = true
        case (_, .refuse): break
        // It does not answer this question, which still stands.
        default: return try carryOut(pairing.answer(answer, &resources, at: now))
        }
        progress.question = nil
        try carryOut(pairing.answer(answer, &resources, at: now))
    }

    /// As somebody does who sees both devices.
    mutating func answerRightly() throws(FuzzViolation) {
        switch progress.question {
        case .consent: try answer(.accept(parameters))
        case .enterPasskey: try answer(.passkey(peer.shown ?? 42))
        case .compareNumbers(let number): try answer(peer.number == nil || peer.number == number ? .accept() : .refuse)
        case nil: try answer(.accept(parameters))
        }
    }

    mutating func press(_ key: KeypressNotification) throws(FuzzViolation) {
        try carryOut(pairing.pressKey(key, at: now))
    }

    mutating func cancel() throws(FuzzViolation) {
        try carryOut(pairing.cancel())
        try require(!pairing.isUnderWay, "a pairing that was called off goes on")
    }

    // MARK: The controller

    /// The link is encrypted if both controllers have the same key.
    mutating func encrypt(failure: UInt8?) throws(FuzzViolation) {
        let local = role == .central ? progress.key : pairing.key(encryptedDiversifier: 0, random: 0)
        try require(local == nil || progress.isWanted, "a key for a pairing that nobody here wants")
        try require(pairing.strength == nil || local != nil, "the strength of no key")
        let isEqual = local != nil && local == peer.key
        let status: UInt8 = failure.map { max($0, 1) } ?? (local == nil || isEqual ? 0 : 0x06)
        if status == 0, local != nil { progress.isEncrypted = true }
        progress.key = nil
        try carryOut(pairing.encryptionChanged(status: status, isEncrypted: status == 0, &resources, at: now))
        peer.encryptionChanged(status: status, at: now, &incoming)
    }

    mutating func disconnect() throws(FuzzViolation) {
        let wasUnderWay = pairing.isUnderWay
        let effects = pairing.linkEnded()
        try require(effects == (wasUnderWay ? [.ended(.failure(.disconnected))] : []), "the end of a link: \(effects)")
        try require(!pairing.isUnderWay && pairing.nextDeadline == nil, "a pairing without a link")
    }

    mutating func pass(_ time: Duration) throws(FuzzViolation) {
        now = now.advanced(by: time)
        let isDue = pairing.nextDeadline.map { $0 <= now } ?? false
        let effects = pairing.fire(at: now)
        switch effects.first {
        case nil: try require(!isDue, "nothing happens at a deadline")
        case .send(.pairingRequest), .send(.securityRequest):
            try require(isDue && isBackingOff && effects.count == 1, "an attempt that did not wait: \(effects)")
            isBackingOff = false
        case .ended(.failure(.timedOut)):
            try require(isDue && !isBackingOff && effects.count == 1, "a time-out of nothing: \(effects)")
            isDead = true
        case .some: throw FuzzViolation(description: "time has passed: \(effects)")
        }
        try carryOut(effects)
    }

    // MARK: The air

    mutating func receive(_ pdu: Span<UInt8>) throws(FuzzViolation) {
        last = Array(pdu)
        try carryOut(pairing.receive(pdu, &resources, at: now))
    }

    mutating func deliver() throws(FuzzViolation) { try deliver(altering: 0, by: 0) }

    /// Delivers the peer's oldest PDU, one octet of it changed.
    mutating func deliver(altering index: UInt8, by change: UInt8) throws(FuzzViolation) {
        guard !incoming.isEmpty else { return }
        var pdu = incoming.removeFirst()
        if change != 0 { pdu[Int(index) % pdu.count] ^= change }
        try receive(pdu.span)
    }

    mutating func drop() {
        if !incoming.isEmpty { incoming.removeFirst() }
    }

    mutating func repeatLast() {
        if !last.isEmpty, incoming.count < Self.maximumIncoming { incoming.insert(last, at: 0) }
    }

    // MARK: What must hold

    private mutating func carryOut(_ effects: [PairingEffect]) throws(FuzzViolation) {
        for effect in effects {
            switch effect {
            case .send(let pdu): try sent(pdu)
            case .encrypt(let key):
                try require(role == .central && progress.isWanted, "encryption that nobody here wants")
                progress.key = key
            case .ask(let question):
                isBackingOff = false
                progress.question = question
            case .show(.passkey(let passkey)):
                try require(passkey < 1_000_000, "a passkey of \(passkey)")
                try require(progress.isWanted, "a passkey for a pairing that nobody here wants")
                progress.passkey = passkey
                peer.passkeyToEnter = passkey
            case .show(.keypress): break
            case .securityRequested: try require(role == .central, "a Security Request of a central")
            case .ended(let outcome): try ended(outcome)
            }
        }
        try require(pairing.isUnderWay || pairing.nextDeadline == nil, "a deadline of nothing")
        try require(pairing.nextDeadline.map { $0 > now } ?? true, "a deadline that has passed")
        peer.advance(at: now, &incoming)
        if incoming.count > Self.maximumIncoming { incoming.removeFirst(incoming.count - Self.maximumIncoming) }
    }

    private mutating func sent(_ pdu: SecurityManagerPDU) throws(FuzzViolation) {
        try require(!isDead, "\(pdu) after the time-out")
        var writer = ByteWriter()
        pdu.encode(into: &writer)
        try require(writer.count <= Self.mtu, "a PDU of \(writer.count) octets")
        guard (try? SecurityManagerPDU(decoding: writer.bytes.span)) == pdu else {
            throw FuzzViolation(description: "\(pdu) changes")
        }
        switch pdu {
        case .encryptionInformation, .centralIdentification, .identityInformation, .identityAddressInformation,
            .signingInformation:
            try require(progress.isEncrypted, "a key over a link that is not encrypted")
        default: break
        }
        peer.receive(writer.bytes, at: now, &incoming)
    }

    private mutating func ended(_ outcome: Result<PairingResult, PairingError>) throws(FuzzViolation) {
        try require(!pairing.isUnderWay, "a pairing goes on after its end")
        isBackingOff = false
        defer { progress = Progress() }
        guard case .success(let result) = outcome else { return }
        try require(progress.isEncrypted, "paired without encryption")
        try require(progress.isWanted, "paired with nobody's consent")
        try require(
            parameters.isSatisfied(by: result, policy), "paired with less than was asked for: \(result.strength)")
        switch result.strength.model {
        case .justWorks, .outOfBand: break
        case .passkeyEntry:
            try require(progress.passkey != nil, "paired without the passkey")
            try require(progress.passkey == peer.passkey, "paired with another passkey than the peer's")
        case .numericComparison: try require(progress.isNumberAccepted, "paired without the comparison")
        }
    }
}
