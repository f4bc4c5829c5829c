import BluetoothLE
import BluetoothCommandLine
import Synchronization

/// A scan that is under way, for whoever takes sightings in and whoever shows them.
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

    /// How many times a device was to be shown.
    var shownCount: Int { state.withLock { $0.shownCount } }

    /// How near each matching device is, whether it was shown or not.
    var nearestFirst: [ProximityEstimator.Estimate] { state.withLock { $0.table.nearestFirst } }

    /// Does something with the table.
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

    /// Writes what `text` makes of each set that is new or has changed, until the time is up or the output is closed.
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

    /// Why the output takes nothing more.
    private final class Failure: Sendable {
        let error = Mutex<CommandFailure?>(nil)
    }
}

/// Carries out `body`, for no longer than a time if there is one.
func within<Value: Sendable>(
    _ time: Duration?, _ body: @escaping @Sendable () async throws(BluetoothError) -> Value
) async throws(BluetoothError) -> Value {
    guard let time else { return try await body() }
    return try await withTimeout(time, body)
}
