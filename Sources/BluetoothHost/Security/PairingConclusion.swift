import BluetoothBase
import BluetoothSMP

/// The result of a link's pairing, from its end until the host reports it.
struct PairingConclusion: Hashable, Sendable {
    typealias Outcome = Result<PairingResult, PairingError>

    // Indirect, because most links have no conclusion, but their state is copied often.
    private indirect enum Phase: Hashable {
        /// There is no result to report.
        case idle
        /// The peer has not yet received the last keys, or the reason of the failure.
        case unconfirmed(Outcome, until: Instant)
        /// The keys have been exchanged, and the bond is being stored.
        case storing(MadeBond, KeyStrength, until: Instant, Sequel)
    }

    /// Events that happened while a bond was being stored, and that are handled afterwards.
    struct Sequel: Hashable {
        /// The end of the next pairing, which had started before the host began to store the bond.
        var outcome: Outcome?
        /// A PDU of the next pairing.
        var heldPDU: [UInt8]?
    }

    private var phase = Phase.idle

    enum Event {
        /// The pairing has ended, and the peer has not received everything yet. The host waits until the given time at
        /// most.
        case ended(Outcome, until: Instant)
        /// The peer has received everything, or the host stops waiting for it.
        case confirmed
        /// The pairing has made a bond, which is being stored. The host waits until the given time at most.
        case bondMade(MadeBond, KeyStrength, until: Instant)
        /// The peer has sent a PDU of the Security Manager Protocol.
        case received([UInt8])
        /// A bond was stored, or could not be.
        case bondWritten(MadeBond, failure: BondStoreError?)
        case timePassed(Instant)
        case linkEnded
    }

    enum Effect: Hashable {
        /// Reports the end of a pairing, or has its bond stored.
        case conclude(Outcome)
        /// Reports the end of the pairing according to the result of storing its bond, then handles the sequel.
        case reportStored(MadeBond, KeyStrength, failure: BondStoreError?, Sequel)
        /// Reports that the bond was not stored in time, then handles the sequel.
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
                // This pairing started before the bond of the previous one was being stored.
                sequel.outcome = outcome
                phase = .storing(made, strength, until: deadline, sequel)
                return nil
            }
            // The host has already confirmed the previous result. Otherwise it is reported now, so that it is not lost.
            let former = confirm()
            phase = .unconfirmed(outcome, until: until)
            return former
        case .confirmed: return confirm()
        case .bondMade(let made, let strength, let until):
            let former = confirm()
            phase = .storing(made, strength, until: until, Sequel())
            return former
        case .received(let pdu):
            // The peer waits for the answer, so it sends only one PDU.
            if case .storing(let made, let strength, let until, var sequel) = phase, sequel.heldPDU == nil {
                sequel.heldPDU = pdu
                phase = .storing(made, strength, until: until, sequel)
            }
            return nil
        case .bondWritten(let made, let failure):
            guard case .storing(made, let strength, _, let sequel) = phase else { return nil }
            phase = .idle
            return .reportStored(made, strength, failure: failure, sequel)
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
        // While the bond is being stored, the peer already has its keys, so the bond is kept if it can be stored.
        case .unconfirmed(.success, _), .storing: return .reportFailure(.disconnected)
        }
    }
}

// MARK: - Transitions

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
        // The peer had started another pairing before the bond was being stored.
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
