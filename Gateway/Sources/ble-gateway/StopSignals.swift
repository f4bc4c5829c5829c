import Dispatch
import Foundation
import Synchronization
import UnixSignals

/// The signals that stop the gateway. The first one shuts its services down, which disconnects the devices that it is connected to.
/// A second one, half a second later or more, ends the process at once.
struct StopSignals {
    /// Those that are not ignored: under `nohup` a program outlives its terminal.
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

/// When the first signal came.
private final class FirstSignal: Sendable {
    /// For how long after the first signal others count as the same: `timeout`, for example, sends two.
    private static let echo = Duration.milliseconds(500)

    private let instant = Mutex<ContinuousClock.Instant?>(nil)

    /// Notes a signal. Returns whether it is another one than the first.
    func isFollowed(at now: ContinuousClock.Instant) -> Bool {
        instant.withLock { instant in
            defer { instant = instant ?? now }
            return instant.map { now - $0 > Self.echo } ?? false
        }
    }
}
