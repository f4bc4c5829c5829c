import BluetoothLE
import BluetoothCommandLine

/// The progress of several attempts to write values.
///
/// A write whose response was lost may have been performed, and some writes must be performed only once: "dispense",
/// "toggle". Such a write is repeated only if a read shows that the value is different. A write without response is
/// never repeated. It counts as written once the device has answered a request that was sent after it on the same link.
struct WriteProgress {
    typealias Step = (attribute: SelectedAttribute, octets: [UInt8])

    /// The number of values that were written, or sent.
    private(set) var doneCount = 0
    /// Whether the next value was sent, and not answered.
    var isOutcomeUnknown = false
    /// The values that were sent on this link without response, and were not confirmed yet.
    private var unconfirmed: [Step] = []
    /// The values that were sent without response on links that have ended. They may not have arrived.
    private var lost: [Step] = []

    /// Whether the device must still confirm values.
    var needsConfirmation: Bool { !unconfirmed.isEmpty }

    /// Records that a value was written.
    mutating func finish(_ attribute: SelectedAttribute, _ octets: [UInt8]) {
        doneCount += 1
        isOutcomeUnknown = false
        confirm()
        Self.report((attribute, octets))
    }

    /// Records that a value was sent without response.
    mutating func sent(_ attribute: SelectedAttribute, _ octets: [UInt8]) {
        doneCount += 1
        unconfirmed.append((attribute, octets))
    }

    /// Records that the device has answered. It answers in the order in which it receives, so everything sent before
    /// has arrived.
    mutating func confirm() {
        for step in unconfirmed { Self.report(step) }
        unconfirmed = []
    }

    /// Records that the link has ended, or that the device no longer answers.
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
            "\(labels): sent without response, and the device did not answer afterwards; it may not have received "
                + "\(lost.count == 1 ? "the value" : "the values"); write again if writing twice is harmless")
    }

    /// Determines whether the write whose response was lost was performed.
    ///
    /// - Throws: `.linkLost` if the value cannot be read.
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
            guard error.code == .att else { throw error }
            throw CommandFailure(
                .linkLost,
                "\(attribute.label): the answer to the write was lost, and the value cannot be read; it may have been "
                    + "written; write it again if writing twice is harmless")
        }
    }
}
