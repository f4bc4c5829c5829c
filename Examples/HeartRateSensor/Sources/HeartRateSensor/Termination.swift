import Dispatch
import Foundation

/// Ends the program in order when it gets SIGINT, SIGTERM or SIGHUP.
///
/// A process that is simply ended leaves its peers waiting: they notice only when the supervision timeout of the link expires. When
/// the last manager is released, its peers are disconnected and the adapter is given back.
final class Termination {
    /// How long that may take: the adapter waits half a second for its controller.
    private static let limit = DispatchTimeInterval.seconds(1)

    private let sources: [DispatchSourceSignal]

    /// - Parameter releaseManagers: releases every manager of the program. It is called on the main queue.
    init(_ releaseManagers: @escaping () -> Void) {
        // Under nohup a program outlives its terminal.
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
