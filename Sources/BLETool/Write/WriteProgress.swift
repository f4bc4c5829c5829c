import BluetoothLE
import BluetoothCommandLine

/// The progress of several attempts to write values.
///
/// A write whose answer was lost may have been carried out, and some may be carried out only once: "dispense", "toggle". So it is
/// not repeated unless reading shows that the value is another one. A write without response is never repeated. It counts as written
/// once the device has answered something that was sent after it on the same link.
struct WriteProgress {
    typealias Step = (attribute: SelectedAttribute, octets: [UInt8])

    /// How many values have been written, or sent.
    private(set) var doneCount = 0
    /// Whether the next one has been sent, and not answered.
    var isOutcomeUnknown = false
    /// What was sent on this link without response, and not confirmed yet.
    private var unconfirmed: [Step] = []
    /// What was sent without response on links that have ended since, and may not have arrived.
    private var lost: [Step] = []

    /// Whether the device has still to confirm something.
    var needsConfirmation: Bool { !unconfirmed.isEmpty }

    /// A value has been written.
    mutating func finish(_ attribute: SelectedAttribute, _ octets: [UInt8]) {
        doneCount += 1
        isOutcomeUnknown = false
        confirm()
        Self.report((attribute, octets))
    }

    /// A value has been sent without response.
    mutating func sent(_ attribute: SelectedAttribute, _ octets: [UInt8]) {
        doneCount += 1
        unconfirmed.append((attribute, octets))
    }

    /// The device has answered something. It answers in the order in which it receives: what was sent before has arrived.
    mutating func confirm() {
        for step in unconfirmed { Self.report(step) }
        unconfirmed = []
    }

    /// The link has ended, or the device no longer answers.
    mutating func linkEnded() {
        lost += unconfirmed
        unconfirmed = []
    }

    private static func report(_ step: Step) {
        say("\(step.attribute.label): written, \(counted(step.octets.count, "octet"))")
    }

    /// The failure for values that may not have arrived; nil if all have.
    var failure: CommandFailure? {
        guard !lost.isEmpty else { return nil }
        let labels = lost.map(\.attribute.label).joined(separator: ", ")
        return CommandFailure(
            .linkLost,
            "\(labels): sent without response, and the device did not answer afterwards: it is unknown whether it received "
                + "\(lost.count == 1 ? "the value" : "the values"); write again if twice does no harm")
    }

    /// Finds out whether the write whose answer was lost has been carried out.
    ///
    /// - Throws: `.linkLost` where the value cannot be read.
    mutating func settle(_ steps: [Step], on connection: Connection, _ attempts: Attempts) async throws {
        guard isOutcomeUnknown, doneCount < steps.count else { return }
        let (attribute, octets) = steps[doneCount]
        do throws(BluetoothError) {
            let value = try await attempts.answer(of: connection) { () throws(BluetoothError) in
                try await connection.read(attribute.handle)
            }
            isOutcomeUnknown = false
            if value == octets { finish(attribute, octets) }
        } catch {
            guard case .att = error else { throw error }
            throw CommandFailure(
                .linkLost,
                "\(attribute.label): the answer to the write was lost, and the value cannot be read: it may have been "
                    + "written; write it again if twice does no harm")
        }
    }
}
