import BluetoothBase
import BluetoothSMP

/// The result of a link's pairing, from the end of the pairing until the host reports it.
struct PairingConclusion: Hashable, Sendable {
    typealias Outcome = Result<PairingResult, PairingError>

    private enum Phase: Hashable {
        /// There is nothing to report.
        case idle
        /// The last keys, or the refusal, are still on their way to the peer.
        case unconfirmed(Outcome, until: Instant)
        /// The keys were exchanged, and their bond is being stored.
        case storing(MadeBond, KeyStrength, until: Instant, Sequel)
    }

    /// What happened while a bond was being stored, and comes after it.
    struct Sequel: Hashable {
        /// The end of the next pairing, which had begun before.
        var outcome: Outcome?
        /// A PDU of the next pairing.
        var heldPDU: [UInt8]?
    }

    private var phase = Phase.idle

    enum Event {
        /// The pairing has ended, and the peer has not received everything. The host waits until then at most.
        case ended(Outcome, until: Instant)
        /// The peer has received everything, or is not waited for any longer.
        case confirmed
        /// The pairing has made a bond, which is being stored. The host waits until then at most.
        case bondMade(MadeBond, KeyStrength, until: Instant)
        /// The peer has sent a PDU of the Security Manager Protocol.
        case received([UInt8])
        /// A bond was stored, or could not be.
        case bondWritten(MadeBond, isStored: Bool)
        case timePassed(Instant)
        case linkEnded
    }

    enum Effect: Hashable {
        /// Reports the end of a pairing, or stores its bond.
        case conclude(Outcome)
        /// Reports the end of the pairing by the result of storing; then goes on with the sequel.
        case reportStored(MadeBond, KeyStrength, isStored: Bool, Sequel)
        /// Reports that the bond was not stored in time; then goes on with the sequel.
        case revert(MadeBond, Sequel)
        case reportFailure(PairingError)
    }

    var isPending: Bool {
        if case .idle = phase { false } else { true }
    }

    var isUnconfirmed: Bool {
        if case .unconfirmed = phase { true } else { false }
    }

    var isStoring: Bool {
        if case .storing = phase { true } else { false }
    }

    var deadline: Instant? {
        switch phase {
        case .idle: nil
        case .unconfirmed(_, let until), .storing(_, _, let until, _): until
        }
    }

    mutating func handle(_ event: Event) -> Effect? {
        switch event {
        case .ended(let outcome, let until):
            if case .storing(let made, let strength, let deadline, var sequel) = phase {
                // A pairing that began before the bond of the former one was being stored.
                sequel.outcome = outcome
                phase = .storing(made, strength, until: deadline, sequel)
                return nil
            }
            // The host has confirmed the one before. Nothing would be lost otherwise.
            let former = confirm()
            phase = .unconfirmed(outcome, until: until)
            return former
        case .confirmed: return confirm()
        case .bondMade(let made, let strength, let until):
            let former = confirm()
            phase = .storing(made, strength, until: until, Sequel())
            return former
        case .received(let pdu):
            // A peer waits for the answer, so it sends only one.
            if case .storing(let made, let strength, let until, var sequel) = phase, sequel.heldPDU == nil {
                sequel.heldPDU = pdu
                phase = .storing(made, strength, until: until, sequel)
            }
            return nil
        case .bondWritten(let made, let isStored):
            guard case .storing(made, let strength, _, let sequel) = phase else { return nil }
            phase = .idle
            return .reportStored(made, strength, isStored: isStored, sequel)
        case .timePassed(let now): return expire(at: now)
        case .linkEnded: return endLink()
        }
    }

    private mutating func confirm() -> Effect? {
        guard case .unconfirmed(let outcome, _) = phase else { return nil }
        phase = .idle
        return .conclude(outcome)
    }

    private mutating func expire(at now: Instant) -> Effect? {
        guard let deadline, deadline <= now else { return nil }
        switch phase {
        case .idle: return nil
        case .unconfirmed: return confirm()
        case .storing(let made, _, _, let sequel):
            phase = .idle
            return .revert(made, sequel)
        }
    }

    private mutating func endLink() -> Effect? {
        defer { phase = .idle }
        switch phase {
        case .idle: return nil
        case .unconfirmed(.failure(let error), _): return .reportFailure(error)
        // In the second case the peer has its keys, so the bond stays if it can be stored.
        case .unconfirmed(.success, _), .storing: return .reportFailure(.disconnected)
        }
    }
}

// MARK: - The table

extension PairingConclusion: StateMachine {
    enum PhaseName: String, CaseIterable { case idle, unconfirmed, storing }

    enum EventName: String, CaseIterable {
        case ended, confirmed, bondMade, received, bondWritten, timePassed, linkEnded
    }

    static let transitions: [Transition<Self>] = [
        Transition(.idle, .ended, .unconfirmed), Transition(.idle, .bondMade, .storing),
        Transition(.unconfirmed, .ended, .unconfirmed), Transition(.unconfirmed, .confirmed, .idle),
        Transition(.unconfirmed, .bondMade, .storing), Transition(.unconfirmed, .timePassed, .idle),
        Transition(.unconfirmed, .linkEnded, .idle),
        // The peer had begun another pairing before the bond was being stored.
        Transition(.storing, .ended, .storing),
        Transition(.storing, .bondMade, .storing), Transition(.storing, .received, .storing),
        Transition(.storing, .bondWritten, .idle), Transition(.storing, .timePassed, .idle),
        Transition(.storing, .linkEnded, .idle),
    ]

    var phaseName: PhaseName {
        switch phase {
        case .idle: .idle
        case .unconfirmed: .unconfirmed
        case .storing: .storing
        }
    }
}
