import Dispatch
import Glibc
import Synchronization

/// Turns SIGINT and SIGTERM into the cancellation of a task. Should the task not come to its end, another one ends the
/// process at once.
final class Interruption: Sendable {
    private struct First {
        var signal: Int32
        var instant: ContinuousClock.Instant
    }

    private static let signals = [SIGINT, SIGTERM]
    /// How soon after the first signal others count as the same: `timeout`, for one, sends two.
    private static let echo = Duration.milliseconds(500)

    private let first = Mutex<First?>(nil)
    private let sources: Mutex<[any DispatchSourceSignal]>

    init() {
        sources = Mutex(Self.signals.map { DispatchSource.makeSignalSource(signal: $0) })
    }

    /// The exit status that tells by which signal the program was ended.
    var status: Int32? { first.withLock { $0.map { 128 + $0.signal } } }

    /// Has the signals cancel `task` from now on.
    func cancel<Value: Sendable>(_ task: Task<Value, Never>) {
        for (source, signal) in zip(sources.withLock { $0 }, Self.signals) {
            source.setEventHandler { self.receive(signal, at: .now) { task.cancel() } }
            source.resume()
        }
    }

    private func receive(_ signal: Int32, at now: ContinuousClock.Instant, _ cancel: () -> Void) {
        let earlier = first.withLock { first in
            defer { first = first ?? First(signal: signal, instant: now) }
            return first
        }
        guard let earlier else { return cancel() }
        if now - earlier.instant > Self.echo { _exit(128 + signal) }
    }
}
