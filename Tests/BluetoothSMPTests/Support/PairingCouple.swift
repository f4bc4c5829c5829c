import BluetoothBase
import BluetoothSMP

/// Two security managers on one link: what one sends the other receives, a link layer encrypts, and two persons answer.
///
/// Everything happens in a fixed order: PDUs first, then answers.
struct PairingCouple {
    var central: PairingSide
    var peripheral: PairingSide
    var now = Instant(nanoseconds: 1_000_000_000)
    /// Whether the link layers have agreed on a key.
    var isEncrypted = false
    /// All PDUs that were sent, in order.
    private(set) var sent: [(from: LinkRole, octets: [UInt8])] = []
    /// What a device was told, in order: with the same seed it does the same again.
    private(set) var inputs: [LinkRole: [PairingInput]] = [:]
    private var inFlight: [(to: LinkRole, octets: [UInt8])] = []
    /// Replaces what goes over the air, if set.
    var tamper: ((_ from: LinkRole, _ octets: [UInt8]) -> [[UInt8]])?

    init(central: PairingSide, peripheral: PairingSide) {
        self.central = central
        self.peripheral = peripheral
    }

    /// Both with the same parameters.
    init(
        _ parameters: PairingParameters = PairingParameters(), policy: SecurityPolicy = SecurityPolicy(),
        seed: UInt64 = 1
    ) {
        self.init(
            central: PairingSide(.central, seed: seed, policy: policy, parameters: parameters),
            peripheral: PairingSide(.peripheral, seed: seed, policy: policy, parameters: parameters))
    }

    subscript(role: LinkRole) -> PairingSide {
        get { role == .central ? central : peripheral }
        set { if role == .central { central = newValue } else { peripheral = newValue } }
    }

    /// Pairs, begun by the central, until nothing moves any more.
    mutating func pair() {
        apply(.begin, to: .central)
        run()
    }

    /// Pairs once more.
    mutating func attempt() {
        central.outcome = nil
        peripheral.outcome = nil
        pair()
    }

    /// - Parameter isAnswering: whether the persons answer; otherwise it ends at the first question.
    mutating func run(isAnswering: Bool = true) {
        for _ in 0..<2000 {
            if !inFlight.isEmpty {
                let next = inFlight.removeFirst()
                apply(.pdu(next.octets), to: next.to)
            } else if isAnswering,
                let role = [LinkRole.central, .peripheral].first(where: { !self[$0].questions.isEmpty })
            {
                let question = self[role].questions.removeFirst()
                if case .compareNumbers(let number) = question { self[role].comparedNumber = number }
                let peer = self[role == .central ? .peripheral : .central]
                apply(.answer(self[role].answer(to: question, peer: peer)), to: role)
            } else {
                return
            }
        }
        fatalError("two devices never come to an end")
    }

    /// Lets everything happen that is due.
    mutating func fire() {
        for role in LinkRole.allCases { carryOut(self[role].pairing.fire(at: now), of: role) }
        run()
    }

    /// Lets all time-outs happen.
    mutating func expire() {
        for role in LinkRole.allCases {
            while let deadline = self[role].pairing.nextDeadline {
                now = max(now, deadline)
                carryOut(self[role].pairing.fire(at: now), of: role)
            }
        }
        run()
    }

    mutating func apply(_ input: PairingInput, to role: LinkRole) {
        inputs[role, default: []].append(input)
        let effects = self[role].apply(input, at: now)
        carryOut(effects, of: role)
    }

    mutating func carryOut(_ effects: [PairingEffect], of role: LinkRole) {
        let other: LinkRole = role == .central ? .peripheral : .central
        for effect in effects {
            self[role].note(effect)
            switch effect {
            case .send(let pdu):
                sent.append((role, pdu.octets))
                for octets in tamper?(role, pdu.octets) ?? [pdu.octets] { inFlight.append((other, octets)) }
            case .encrypt(let key):
                encrypt(with: key)
            case .ask, .show, .securityRequested, .ended:
                break
            }
        }
    }

    /// The link layer: PDUs in flight arrive first, then both controllers report.
    private mutating func encrypt(with key: UInt128) {
        while !inFlight.isEmpty {
            let next = inFlight.removeFirst()
            apply(.pdu(next.octets), to: next.to)
        }
        let found = peripheral.pairing.key(encryptedDiversifier: 0, random: 0)
        isEncrypted = found == key
        // 0x06: PIN or Key Missing, 0x3D: Connection Terminated due to MIC Failure.
        let status: UInt8 = found == nil ? 0x06 : isEncrypted ? 0 : 0x3D
        apply(.encryption(status: status), to: .peripheral)
        apply(.encryption(status: status), to: .central)
    }
}

/// What a security manager can be told.
enum PairingInput: Equatable {
    case begin
    case pdu([UInt8])
    case answer(PairingAnswer)
    case encryption(status: UInt8)

    var isPDU: Bool {
        if case .pdu = self { true } else { false }
    }
}

extension PairingSide {
    mutating func apply(_ input: PairingInput, at now: Instant) -> [PairingEffect] {
        switch input {
        case .begin: pairing.begin(parameters, &resources, at: now)
        case .pdu(let octets): pairing.receive(octets.span, &resources, at: now)
        case .answer(let answer): pairing.answer(answer, &resources, at: now)
        case .encryption(let status):
            pairing.encryptionChanged(status: status, isEncrypted: status == 0, &resources, at: now)
        }
    }

    /// The same, with what concerns the person noted; returns what is sent.
    @discardableResult
    mutating func sends(after input: PairingInput, at now: Instant = .zero) -> [[UInt8]] {
        let effects = apply(input, at: now)
        for effect in effects { note(effect) }
        return effects.compactMap { if case .send(let pdu) = $0 { pdu.octets } else { nil } }
    }
}
