import Dispatch
import Glibc
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into the cancellation of a task. Should the task not come to its end, another one
/// ends the process at once.
final class Interruption: Sendable {
    private struct First {
        var signal: Int32
        var instant: ContinuousClock.Instant
    }

    private let signals: [Int32]
    /// How soon after the first signal others count as the same: `timeout`, for one, sends two.
    private static let echo = Duration.milliseconds(500)

    private let first = Mutex<First?>(nil)
    private let sources: Mutex<[any DispatchSourceSignal]>

    init() {
        // Under nohup a program outlives its terminal.
        signals = [SIGINT, SIGTERM] + (Self.isIgnored(SIGHUP) ? [] : [SIGHUP])
        sources = Mutex(signals.map { DispatchSource.makeSignalSource(signal: $0) })
        // Output that nobody reads any more is an error where it is written, and does not end the process from outside.
        signal(SIGPIPE, SIG_IGN)
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// The exit status that tells by which signal the program was ended.
    var status: Int32? { first.withLock { $0.map { 128 + $0.signal } } }

    /// Has the signals cancel `task` from when this returns.
    func cancel<Value: Sendable>(_ task: Task<Value, Never>) {
        let registrations = DispatchGroup()
        for (source, signal) in zip(sources.withLock { $0 }, signals) {
            source.setEventHandler { self.receive(signal, at: .now) { task.cancel() } }
            // A signal that came before would end the process as if nobody had asked for it.
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
