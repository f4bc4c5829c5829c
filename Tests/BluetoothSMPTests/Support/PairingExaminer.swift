import BluetoothBase
import BluetoothSMP
import TestSupport
import Testing

/// Applies inputs to devices that pair. It compares each step with the specification, and records it in a table.
struct PairingExaminer {
    /// Everything that can happen to a `Pairing`.
    enum Input: Equatable {
        case begin
        /// A PDU with a known code, the right length, and values in range.
        case message([UInt8])
        case malformed([UInt8])
        case answer(PairingAnswer)
        case keyPress
        case encryption(status: UInt8, isEncrypted: Bool)
        case cancel
        case linkEnd
        case time

        init(_ input: PairingInput) {
            self =
                switch input {
                case .begin: .begin
                case .pdu(let octets): .message(octets)
                case .answer(let answer): .answer(answer)
                case .encryption(let status): .encryption(status: status, isEncrypted: status == 0)
                }
        }

        /// Whether the call takes the time, so that it notices a timeout.
        var hasTime: Bool {
            switch self {
            case .cancel, .linkEnd: false
            case .begin, .message, .malformed, .answer, .keyPress, .encryption, .time: true
            }
        }
    }

    /// A state in which every input has been tried. The pairing itself does not know whether an attempt would wait.
    private struct State: Hashable {
        var pairing: Pairing
        var isDelayed: Bool
    }

    private(set) var table = MachineTable<Pairing>()
    private var known: Set<State> = []

    /// Replays the inputs of both devices. In each state, it also applies every other input, to a copy.
    mutating func replay(_ couple: PairingCouple, from start: PairingCouple) {
        for role in LinkRole.allCases {
            var side = start[role]
            probe(side, role, at: start.now)
            for input in couple.inputs[role] ?? [] {
                for effect in apply(Input(input), to: &side, role, at: start.now) { side.note(effect) }
                probe(side, role, at: start.now)
            }
            #expect(side.outcome == couple[role].outcome, "the same inputs have the same result")
        }
    }

    /// Applies an input, and checks the step.
    @discardableResult
    mutating func apply(
        _ input: Input, to side: inout PairingSide, _ role: LinkRole, at now: Instant
    ) -> [PairingEffect] {
        let before = side.pairing
        let phase = before.phaseName
        let event = Self.event(of: input, to: before, role, at: now)
        let effects = Self.perform(input, on: &side, at: now)
        let next = side.pairing.phaseName
        table.note(event, from: before, to: side.pairing, hasEffects: !effects.isEmpty)

        // Not a constant: there are many steps, and the description is rarely needed.
        var step: String { "\(role), \(phase): \(event), \(input)" }
        if !PairingSpecification.phases(after: event, in: phase, role).contains(next) {
            Issue.record("\(step) leads to \(next)")
        }
        if !PairingSpecification.belongs(next, to: role) { Issue.record("\(step) leads to \(next)") }
        if let mistake = PairingSpecification.mistake(in: effects, of: event, from: phase, to: next) {
            Issue.record("\(step): \(mistake)")
        }
        return effects
    }

    private static func event(
        of input: Input, to pairing: Pairing, _ role: LinkRole, at now: Instant
    ) -> Pairing.EventName {
        // A call notices that the timer has expired, and does nothing else. While an attempt waits, no timer runs.
        if input.hasTime, pairing.phaseName != .waiting, let deadline = pairing.nextDeadline, deadline <= now {
            return .timePassed
        }
        return switch input {
        case .begin: .begun
        case .message(let octets): PairingSpecification.event(ofCode: octets[0], in: pairing.phaseName, role)
        case .malformed: .unexpected
        case .answer(.accept): .accepted
        case .answer(.refuse): .refused
        case .answer(.passkey): .passkeyEntered
        case .keyPress: .keyPressed
        case .encryption(let status, let isEncrypted): status == 0 && isEncrypted ? .encrypted : .encryptionFailed
        case .cancel: .cancelled
        case .linkEnd: .linkEnded
        case .time: .timePassed
        }
    }

    private static func perform(_ input: Input, on side: inout PairingSide, at now: Instant) -> [PairingEffect] {
        switch input {
        case .begin: side.apply(.begin, at: now)
        case .message(let octets), .malformed(let octets): side.apply(.pdu(octets), at: now)
        case .answer(let answer): side.apply(.answer(answer), at: now)
        case .keyPress: side.pairing.pressKey(.digitEntered, at: now)
        case .encryption(let status, let isEncrypted):
            side.pairing.encryptionChanged(status: status, isEncrypted: isEncrypted, &side.resources, at: now)
        case .cancel: side.pairing.cancel()
        case .linkEnd: side.pairing.linkEnded()
        case .time: side.pairing.fire(at: now)
        }
    }

    // MARK: - Everything in one state

    /// Applies every input to copies of a device, at every time that makes a difference.
    mutating func probe(_ side: PairingSide, _ role: LinkRole, at now: Instant) {
        let state = State(pairing: side.pairing, isDelayed: side.pairing.isDelayed(side.resources, at: now))
        guard known.insert(state).inserted else { return }
        for input in Self.inputs { applyToCopy(input, of: side, role, at: now) }
        expectNothing(.pdu([]), side, at: now)

        guard let deadline = side.pairing.nextDeadline else {
            applyToCopy(.time, of: side, role, at: Instant(nanoseconds: .max))
            return
        }
        let early = deadline.advanced(by: .nanoseconds(-1))
        var punctual = side
        let earlyEffects = punctual.pairing.fire(at: early)
        #expect(earlyEffects.isEmpty && punctual.pairing == side.pairing, "the deadline has not passed")
        // The peer may begin again before this device does.
        if side.pairing.phaseName == .waiting {
            for input in Self.inputs { applyToCopy(input, of: side, role, at: early) }
        } else {
            for input in Self.lateInputs { applyToCopy(input, of: side, role, at: deadline) }
        }
        var late = side
        apply(.time, to: &late, role, at: deadline)
        probe(late, role, at: deadline)
    }

    private mutating func applyToCopy(_ input: Input, of side: PairingSide, _ role: LinkRole, at now: Instant) {
        var copy = side
        apply(input, to: &copy, role, at: now)
    }

    private func expectNothing(_ input: PairingInput, _ side: PairingSide, at now: Instant) {
        var copy = side
        let effects = copy.apply(input, at: now)
        #expect(effects.isEmpty && copy.pairing == side.pairing, "\(input) has an effect")
    }

    private static let inputs: [Input] = {
        let calls: [Input] = [
            .begin, .answer(.accept()), .answer(.accept(PairingParameters(requiresAuthentication: true))),
            .answer(.refuse), .answer(.passkey(123_456)), .answer(.passkey(1_000_000)), .keyPress,
            .encryption(status: 0, isEncrypted: true), .encryption(status: 0, isEncrypted: false),
            .encryption(status: 0x3D, isEncrypted: false), .cancel, .linkEnd,
        ]
        return messages.map(Input.message) + malformedMessages.map(Input.malformed) + calls
    }()

    /// One input for each function with a time.
    private static let lateInputs: [Input] = [
        .begin, .message(messages[0]), .malformed([0xFF]), .answer(.refuse), .keyPress,
        .encryption(status: 0, isEncrypted: true),
    ]

    /// At least one PDU of each kind.
    private static let messages: [[UInt8]] = {
        let zero = FieldElement(high: 0, low: 0)
        let pdus: [SecurityManagerPDU] = [
            .pairingConfirm(1), .pairingRandom(1), .pairingFailed(.unspecifiedReason),
            .pairingFailed(PairingFailure(rawValue: 0xFF)), .encryptionInformation(longTermKey: 1),
            .centralIdentification(encryptedDiversifier: 1, random: 1), .identityInformation(resolvingKey: 1),
            .identityAddressInformation(PairingSide.centralAddress),
            // A private address is no identity.
            .identityAddressInformation(DeviceAddress(0x4011_2233_4455, kind: .random)),
            .signingInformation(signatureKey: 1), .securityRequest(.bonding),
            .pairingPublicKey(P256PublicKey(x: zero, y: zero)), .pairingDHKeyCheck(1),
            .pairingKeypressNotification(.digitEntered),
        ]
        var messages = pdus.map(\.octets)
        messages += RandomSequenceTests.publicKeys.prefix(1)
        // Pairing Request and Pairing Response, with and without LE Secure Connections, and with invalid key sizes.
        for code: UInt8 in [0x01, 0x02] {
            messages.append([code, 0x03, 0x00, 0x09, 0x10, 0x07, 0x07])
            messages.append([code, 0x03, 0x00, 0x01, 0x10, 0x07, 0x07])
            messages.append([code, 0x03, 0x00, 0x09, 0x06, 0x07, 0x07])
            messages.append([code, 0x03, 0x00, 0x09, 0x11, 0x07, 0x07])
        }
        return messages
    }()

    /// PDUs that are too short or too long, unknown codes, and values out of range.
    private static let malformedMessages: [[UInt8]] = {
        var malformed: [[UInt8]] = [
            [0x00], [0x0F, 0x00], [0xFF], [0x0E, 0x05], [0x01, 0x05, 0x00, 0x09, 0x10, 0x07, 0x07],
            [0x01, 0x03, 0x02, 0x09, 0x10, 0x07, 0x07], [0x02, 0x05, 0x00, 0x09, 0x10, 0x07, 0x07],
        ]
        for message in messages {
            malformed.append(Array(message.dropLast()))
            malformed.append(message + [0x00])
        }
        return malformed
    }()
}
