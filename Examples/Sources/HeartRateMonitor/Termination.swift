import Dispatch
import Foundation

/// Shuts the program down cleanly on SIGINT, SIGTERM or SIGHUP.
///
/// If a process just exits, its peers notice only when the supervision timeout of the link expires. Releasing the last
/// manager disconnects the peers and returns the adapter.
final class Termination {
    /// The time limit for the shutdown. The adapter waits up to half a second for its controller.
    private static let limit = DispatchTimeInterval.seconds(1)

    private let sources: [DispatchSourceSignal]

    /// - Parameter releaseManagers: releases every manager of the program. It is called on the main queue.
    init(_ releaseManagers: @escaping () -> Void) {
        // Under nohup, SIGHUP is ignored, and the program outlives its terminal.
        let signals = [SIGINT, SIGTERM] + (Self.isIgnored(SIGHUP) ? [] : [SIGHUP])
        sources = signals.map { signal in
            let source = DispatchSource.makeSignalSource(signal: signal, queue: .main)
            source.setEventHandler {
                releaseManagers()
                DispatchQueue.main.asyncAfter(deadline: .now() + Self.limit) { exit(128 + signal) }
            }
            source.resume()
            return source
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        let former = signal(number, SIG_IGN)
        let isIgnored = unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if !isIgnored { signal(number, former) }
        return isIgnored
    }
}
