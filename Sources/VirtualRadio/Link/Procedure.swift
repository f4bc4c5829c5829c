import BluetoothBase
import BluetoothHCI

/// A link layer control procedure under way on a link, and when its next step is taken
/// (Core 5.4, Vol 6, Part B, 5.1).
struct Procedure: Sendable {
    enum Step: Sendable {
        /// Connection Update (5.1.1).
        case connectionUpdate(ConnectionParameters)
        /// Connection Parameters Request (5.1.7): a peripheral asks, the central's host decides.
        case parameterRequest(LEConnectionParameters)
        /// The refusal of such a request on its way back.
        case parameterReject(HCIStatus)
        /// Encryption Start (5.1.3.1): the request, then the end, once the peripheral's host has answered.
        case encryptionRequest(LEEnableEncryption)
        case encryptionStart
        case encryptionReject
        /// The peripheral's host was asked for a key and never answered (5.2).
        case responseTimeout
        /// Feature Exchange (5.1.4).
        case featureExchange
        /// Version Exchange (5.1.5).
        case versionExchange
        /// Termination (5.1.6).
        case terminate(HCIStatus)
        /// Data Length Update (5.1.9).
        case dataLengthUpdate
        /// PHY Update (5.1.10), with the PHY each role shall send on.
        case phyUpdate(central: LEPHY, peripheral: LEPHY)
    }

    var step: Step
    /// The end that started the procedure.
    var initiator: LinkRole
    var due: Instant
}

extension Procedure.Step {
    /// Whether both are steps of the same kind, whatever they carry.
    func isSameKind(as other: Self) -> Bool {
        switch (self, other) {
        case (.connectionUpdate, .connectionUpdate), (.parameterRequest, .parameterRequest),
            (.parameterReject, .parameterReject), (.encryptionRequest, .encryptionRequest),
            (.encryptionStart, .encryptionStart), (.encryptionReject, .encryptionReject),
            (.responseTimeout, .responseTimeout),
            (.featureExchange, .featureExchange), (.versionExchange, .versionExchange), (.terminate, .terminate),
            (.dataLengthUpdate, .dataLengthUpdate), (.phyUpdate, .phyUpdate):
            true
        default: false
        }
    }
}

extension Link {
    /// Puts a step in its place, which keeps the steps in the order in which they fall due.
    mutating func schedule(_ step: Procedure.Step, from initiator: LinkRole, at due: Instant) {
        let index = procedures.firstIndex { $0.due > due } ?? procedures.count
        procedures.insert(Procedure(step: step, initiator: initiator, due: due), at: index)
    }

    /// Whether `initiator` has a procedure under way that `matches`.
    func isUnderWay(_ initiator: LinkRole, _ matches: (Procedure.Step) -> Bool) -> Bool {
        procedures.contains { $0.initiator == initiator && matches($0.step) }
    }

    /// Forgets the steps of one kind.
    mutating func cancel(_ step: Procedure.Step) {
        procedures.removeAll { $0.step.isSameKind(as: step) }
    }
}
