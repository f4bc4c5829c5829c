import BluetoothPlatform
import Synchronization

/// Shows the progress of a long operation on standard error, if that is a terminal.
public final class ProgressBar: Sendable {
    private static let width = 24
    /// The minimum interval between updates.
    private static let pace = Duration.milliseconds(100)

    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let next = Mutex(ContinuousClock.now)

    /// Creates a bar, which appears with the first call of `show`.
    public init() {}

    /// Shows the progress, unless it was shown too recently.
    ///
    /// - Parameters:
    ///   - fraction: the completed fraction, from 0 to 1.
    ///   - note: additional information, such as a rate.
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

    /// Erases the bar.
    public func end() { if isTerminal { eraseLineInPlace() } }
}
