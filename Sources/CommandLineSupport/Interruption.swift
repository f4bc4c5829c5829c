import Dispatch
import Glibc
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into the cancellation of a task. If the task does not end, a second signal ends the
/// process at once.
final class Interruption: Sendable {
    private struct First {
        var signal: Int32
        var instant: ContinuousClock.Instant
    }

    private let signals: [Int32]
    /// For how long after the first signal others count as the same: `timeout`, for example, sends two.
    private static let echo = Duration.milliseconds(500)

    private let first = Mutex<First?>(nil)
    private let sources: Mutex<[any DispatchSourceSignal]>

    init() {
        // Under nohup a program outlives its terminal.
        signals = [SIGINT, SIGTERM] + (Self.isIgnored(SIGHUP) ? [] : [SIGHUP])
        sources = Mutex(signals.map { DispatchSource.makeSignalSource(signal: $0) })
        // A closed output is an error for the writer, and does not kill the process.
        signal(SIGPIPE, SIG_IGN)
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// The exit status that says which signal ended the program.
    var status: Int32? { first.withLock { $0.map { 128 + $0.signal } } }

    /// Once this returns, the signals cancel `task`.
    func cancel<Value: Sendable>(_ task: Task<Value, Never>) {
        let registrations = DispatchGroup()
        for (source, signal) in zip(sources.withLock { $0 }, signals) {
            source.setEventHandler { self.receive(signal, at: .now) { task.cancel() } }
            // An earlier signal would kill the process without a clean end.
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.resume()
        }
        registrations.wait()
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
