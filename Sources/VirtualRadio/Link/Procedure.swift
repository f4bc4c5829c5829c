import BluetoothBase
import BluetoothHCI

/// A link layer control procedure in progress on a link, and when its next step is due (Core 5.4, Vol 6, Part B, 5.1).
struct Procedure: Sendable {
    enum Step: Sendable {
        /// Connection Update (5.1.1).
        case connectionUpdate(ConnectionTiming)
        /// Connection Parameters Request (5.1.7). A peripheral requests, and the central's host decides.
        case parameterRequest(LEConnectionParameters)
        /// The rejection of such a request.
        case parameterReject(HCIStatus)
        /// Encryption Start (5.1.3.1): the request, then its outcome once the peripheral's host has answered.
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
        /// PHY Update (5.1.10), with the PHY for each role to send on.
        case phyUpdate(central: LEPHY, peripheral: LEPHY)
        /// Periodic Advertising Sync Transfer (5.1.13).
        case periodicSync(TrainAnnouncement)
        /// Power Control Request (5.1.17), for the power on a PHY.
        case powerControl(PowerLevelPHY)
        /// The path loss has been in another zone for the minimum time that the host set. Not a procedure, but
        /// scheduled like one.
        case pathLossZone
    }

    var step: Step
    /// The end that started the procedure.
    var initiator: LinkRole
    var due: Instant
}

extension Procedure.Step {
    /// Whether both are steps of the same kind, regardless of their values.
    func isSameKind(as other: Self) -> Bool {
        switch (self, other) {
        case (.connectionUpdate, .connectionUpdate), (.parameterRequest, .parameterRequest),
            (.parameterReject, .parameterReject), (.encryptionRequest, .encryptionRequest),
            (.encryptionStart, .encryptionStart), (.encryptionReject, .encryptionReject),
            (.responseTimeout, .responseTimeout),
            (.featureExchange, .featureExchange), (.versionExchange, .versionExchange), (.terminate, .terminate),
            (.dataLengthUpdate, .dataLengthUpdate), (.phyUpdate, .phyUpdate),
            (.periodicSync, .periodicSync), (.powerControl, .powerControl), (.pathLossZone, .pathLossZone):
            true
        default: false
        }
    }
}

extension AirLink {
    /// Inserts a step, keeping the steps in the order in which they are due.
    mutating func schedule(_ step: Procedure.Step, from initiator: LinkRole, at due: Instant) {
        let index = procedures.firstIndex { $0.due > due } ?? procedures.count
        procedures.insert(Procedure(step: step, initiator: initiator, due: due), at: index)
    }

    /// Whether `initiator` has a procedure in progress that `matches`.
    func isInProgress(_ initiator: LinkRole, _ matches: (Procedure.Step) -> Bool) -> Bool {
        procedures.contains { $0.initiator == initiator && matches($0.step) }
    }

    /// Removes the steps of one kind.
    mutating func cancel(_ step: Procedure.Step) {
        procedures.removeAll { $0.step.isSameKind(as: step) }
    }
}
