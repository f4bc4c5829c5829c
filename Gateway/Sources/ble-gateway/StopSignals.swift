import Dispatch
import Foundation
import Synchronization
import UnixSignals

/// The signals that stop the gateway. The first one shuts its services down, which disconnects the connected devices. A
/// second one, at least half a second later, ends the process immediately.
struct StopSignals {
    /// The signals that are not ignored. Under `nohup`, SIGHUP is ignored, and the program outlives its terminal.
    static let all: [UnixSignal] = [.sigterm, .sigint, .sighup].filter { !isIgnored($0.rawValue) }

    private let sources: [any DispatchSourceSignal]

    init() {
        let queue = DispatchQueue(label: "signals", qos: .userInitiated)
        let first = FirstSignal()
        sources = Self.all.map(\.rawValue).map { signal in
            let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
            source.setEventHandler { if first.isFollowed(at: .now) { _exit(128 + signal) } }
            source.resume()
            return source
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
    /// Signals within this time after the first one count as the same: `timeout`, for example, sends two.
    private static let echo = Duration.milliseconds(500)

    private let instant = Mutex<ContinuousClock.Instant?>(nil)

    /// Records a signal. Returns whether it follows an earlier one.
    func isFollowed(at now: ContinuousClock.Instant) -> Bool {
        instant.withLock { instant in
            defer { instant = instant ?? now }
            return instant.map { now - $0 > Self.echo } ?? false
        }
    }
}
