import BluetoothPlatform
import Synchronization

/// Shows on a terminal, on standard error, how far something long has come; nothing elsewhere.
public final class ProgressBar: Sendable {
    private static let width = 24
    /// No more often than this.
    private static let pace = Duration.milliseconds(100)

    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let next = Mutex(ContinuousClock.now)

    public init() {}

    /// Shows the state, if it is time to.
    ///
    /// - Parameters:
    ///   - fraction: how much is done, from 0 to 1.
    ///   - note: what else there is to say, such as a speed.
    public func show(_ what: String, _ fraction: Double, _ note: @autoclosure () -> String = "") {
        guard isTerminal else { return }
        let now = ContinuousClock.now
        let isDue = next.withLock { next in
            guard now >= next else { return false }
            next = now + Self.pace
            return true
        }
        if isDue { sayInPlace(Self.line(what, fraction, note())) }
    }

    static func line(_ what: String, _ fraction: Double, _ note: String) -> String {
        let fraction = min(max(fraction, 0), 1)
        let filled = Int((fraction * Double(width)).rounded(.down))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        let percent = "\(Int((fraction * 100).rounded(.down))) %"
        return [what, "[\(bar)]", percent, note].filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Erases it.
    public func end() { if isTerminal { eraseLineInPlace() } }
}
