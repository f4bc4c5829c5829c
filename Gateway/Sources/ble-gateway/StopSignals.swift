import Dispatch
import Foundation
import Synchronization

/// The signals that stop the gateway. The first one shuts its services down, which disconnects the connected devices. A
/// second one, at least half a second later, ends the process immediately.
struct StopSignals {
    /// The signals that are not ignored. Under `nohup`, SIGHUP is ignored, and the program outlives its terminal.
    private static let all = [SIGTERM, SIGINT, SIGHUP].filter { !isIgnored($0) }

    private let sources: [any DispatchSourceSignal]

    /// Handles the signals from now on, until this value is released.
    ///
    /// - Parameter shutDown: Called for the first signal.
    init(shutDown: @escaping @Sendable () -> Void) async {
        let queue = DispatchQueue(label: "signals", qos: .userInitiated)
        let first = FirstSignal()
        sources = Self.all.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        for (source, signal) in zip(sources, Self.all) {
            source.setEventHandler {
                switch first.record(at: .now) {
                case .first: shutDown()
                case .echo: break
                case .second: _exit(128 + signal)
                }
            }
            // Until a source is registered, its signal ends the process.
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(signal, nil, &action) == 0 else { return false }
        let handler = unsafe action.__sigaction_handler.sa_handler
        return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

/// The time of the first signal.
private final class FirstSignal: Sendable {
    /// The meaning of a signal.
    enum Meaning { case first, echo, second }

    /// Signals within this time after the first one count as the same: `timeout`, for example, sends two.
    private static let echo = Duration.milliseconds(500)

    private let instant = Mutex<ContinuousClock.Instant?>(nil)

    /// Records a signal. Returns what it means after the earlier ones.
    func record(at now: ContinuousClock.Instant) -> Meaning {
        instant.withLock { instant in
            guard let first = instant else {
                instant = now
                return .first
            }
            return now - first > Self.echo ? .second : .echo
        }
    }
}
