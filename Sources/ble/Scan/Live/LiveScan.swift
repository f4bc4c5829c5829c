import BluetoothLE
import BluetoothCommandLine
import HCITransport
import Synchronization

/// A scan on a terminal. It handles sightings and keys, and draws the table at most ten times per second.
final class LiveScan: Sendable {
    private static let frame = Duration.milliseconds(100)

    private let devices: ScanSession
    private let view = Mutex(LiveView(palette: .standardOutput))

    init(_ devices: ScanSession) { self.devices = devices }

    /// Runs until a key, the time limit or a signal ends it.
    ///
    /// - Throws: the error if the scan ends for another reason.
    func run(_ sightings: EventSequence<Sighting>, for time: Duration?) async throws {
        let screen = try LiveScreen()
        defer { screen.leave() }
        do {
            try await within(time) { () throws(BluetoothError) in try await self.work(sightings, screen) }
        } catch {
            guard error == .timedOut || error == .cancelled else { throw error }
        }
        try Task.checkCancellation()
    }

    /// Runs until the first of its tasks ends.
    private func work(_ sightings: EventSequence<Sighting>, _ screen: LiveScreen) async throws(BluetoothError) {
        let outcome = await withTaskGroup(of: Result<Void, BluetoothError>.self) { group in
            group.addTask { await self.record(sightings) }
            group.addTask { await self.takeKeys(screen) }
            group.addTask { await self.draw(on: screen) }
            let first = await group.next() ?? .success(())
            group.cancelAll()
            return first
        }
        try outcome.get()
    }

    private func record(_ sightings: EventSequence<Sighting>) async -> Result<Void, BluetoothError> {
        do throws(BluetoothError) {
            for try await sighting in sightings { devices.record(sighting) }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func takeKeys(_ screen: LiveScreen) async -> Result<Void, BluetoothError> {
        for await key in screen.keys {
            switch view.withLock({ $0.press(key) }) {
            case .redraw: show(on: screen)
            case .forget: devices.withTable { $0.removeAll() }
            case .quit: return .success(())
            }
        }
        // Standard input has ended. The table continues without keys.
        try? await Task.sleep(for: .seconds(31_536_000))
        return .success(())
    }

    private func draw(on screen: LiveScreen) async -> Result<Void, BluetoothError> {
        while show(on: screen) {
            do { try await Task.sleep(for: Self.frame) } catch { return .failure(.cancelled) }
        }
        return .failure(.cancelled)
    }

    /// Returns false if the terminal is gone.
    @discardableResult
    private func show(on screen: LiveScreen) -> Bool {
        let size = screen.size, now = MonotonicClock.now
        let lines = devices.withTable { table in view.withLock { $0.lines(table, at: now, size: size) } }
        do { try screen.draw(lines) } catch { return false }
        return true
    }
}
