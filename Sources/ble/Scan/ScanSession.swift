import BluetoothLE
import BluetoothCommandLine
import Synchronization

/// A running scan, shared by the tasks that record sightings and those that show them.
final class ScanSession: Sendable {
    private struct State {
        var table: ScanTable
        var shownCount = 0
    }

    private let state: Mutex<State>
    private let reportsDuplicates: Bool

    init(_ table: ScanTable, reportsDuplicates: Bool) {
        state = Mutex(State(table: table))
        self.reportsDuplicates = reportsDuplicates
    }

    /// How many times a device was shown.
    var shownCount: Int { state.withLock { $0.shownCount } }

    /// The proximity of each matching device, whether it was shown or not.
    var nearestFirst: [NearDevice] { state.withLock { $0.table.nearestFirst } }

    /// Calls a closure with exclusive access to the table.
    func withTable<Value: Sendable>(_ body: (inout sending ScanTable) -> sending Value) -> Value {
        state.withLock { body(&$0.table) }
    }

    /// Adds a sighting. Returns the text that `text` makes of its set, or nil if the set should not be shown.
    @discardableResult
    func record(_ sighting: Sighting, text: (inout ScannedSet) -> [UInt8] = { _ in [] }) -> [UInt8]? {
        state.withLock { state in
            let (slot, isNews) = state.table.record(sighting)
            guard state.table[slot].isMatch, isNews || reportsDuplicates else { return nil }
            state.shownCount += 1
            return state.table.text(of: slot, text)
        }
    }

    /// Writes the text that `text` makes of each set that is new or has changed, until the time is up or the output is
    /// closed.
    func show(
        _ sightings: EventSequence<Sighting>, for time: Duration?,
        text: @escaping @Sendable (inout ScannedSet) -> [UInt8]
    ) async throws {
        let failure = Failure()
        do {
            try await within(time) { [self] () throws(BluetoothError) in
                for try await sighting in sightings {
                    guard let line = record(sighting, text: text) else { continue }
                    do throws(CommandFailure) {
                        try writeToStandardOutput(line)
                    } catch {
                        failure.error.withLock { $0 = error }
                        throw .cancelled
                    }
                }
            }
        } catch {
            if let failure = failure.error.withLock({ $0 }) { throw failure }
            guard error == .timedOut || error == .cancelled else { throw error }
        }
    }

    /// The reason why the output cannot be written.
    private final class Failure: Sendable {
        let error = Mutex<CommandFailure?>(nil)
    }
}

/// Runs `body`, within a time limit if there is one.
func within<Value: Sendable>(
    _ time: Duration?, _ body: @escaping @Sendable () async throws(BluetoothError) -> Value
) async throws(BluetoothError) -> Value {
    guard let time else { return try await body() }
    return try await withTimeout(time, body)
}
