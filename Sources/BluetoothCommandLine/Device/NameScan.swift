import BluetoothLE
import Synchronization

/// A scan for the device with the name that a user gave.
final class NameScan: Sendable {
    /// How long the scan continues to find other devices with the name, once there is one.
    private static let survey = Duration.seconds(2)
    /// The time after which close names are printed.
    private static let patience = Duration.seconds(3)

    private let search: Mutex<NameSearch>

    init(_ name: String) { search = Mutex(NameSearch(name)) }

    /// Returns the only device with the name; nil if there was none in time.
    ///
    /// - Throws: `.usage` if several devices have it; the error that ended the scan.
    func run(
        for filter: ScanFilter, parameters: ScanParameters, on adapter: Adapter, _ attempts: Attempts
    ) async throws -> Sighting? {
        let (matches, match) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let sightings = adapter.scan(for: filter, parameters: parameters)
        let scan = Task { [self] () -> BluetoothError? in
            defer { match.finish() }
            do throws(BluetoothError) {
                for try await sighting in sightings where search.withLock({ $0.take(sighting) }) { match.yield() }
                return nil
            } catch {
                return error
            }
        }
        let result: Result<Sighting?, any Error>
        do {
            result = .success(try await wait(for: matches, attempts))
        } catch {
            result = .failure(error)
        }
        // The scan must end before the adapter may be closed.
        scan.cancel()
        let end = await scan.value
        guard let found = try result.get() else {
            if let end, end != .cancelled { throw end }
            return nil
        }
        return found
    }

    /// Waits until the device is known. Returns nil if there was none in time, or if the scan has ended.
    private func wait(for matches: AsyncStream<Void>, _ attempts: Attempts) async throws -> Sighting? {
        let clock = TimeLimits.clock
        let hint = Task { [self] in
            guard (try? await clock.sleep(for: Self.patience)) != nil else { return }
            say(search.withLock { $0.hint })
        }
        defer { hint.cancel() }
        let name = search.withLock { $0.wanted }
        let left = attempts.left
        do throws(BluetoothError) {
            try await waiting(for: quoted(name), upTo: attempts.timeout) { () throws(BluetoothError) in
                try await withTimeout(left) { () throws(BluetoothError) in
                    for await _ in matches { return }
                    // The stream ends with the scan, and also if this task is cancelled.
                    if Task.isCancelled { throw .cancelled }
                }
            }
        } catch {
            guard error == .timedOut else { throw error }
            return nil
        }
        hint.cancel()
        if search.withLock({ $0.verdict != .none }) {
            try await waiting(for: "other devices named \(quoted(name))") {
                try await clock.sleep(for: min(Self.survey, attempts.left))
            }
        }
        try Task.checkCancellation()
        if let ambiguity = search.withLock({ $0.ambiguity }) { throw ambiguity }
        if case .one(let sighting) = search.withLock({ $0.verdict }) { return sighting }
        return nil
    }

    /// The suggestion for a message that the device was not found.
    var suggestion: String {
        let close = search.withLock { $0.closeNames }
        return close.isEmpty ? "" : "; did you mean \(close.map { quoted($0) }.joined(separator: " or "))?"
    }
}
