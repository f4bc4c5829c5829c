import BluetoothPlatform
import Synchronization

/// Shows on standard error how much has been transferred: on a terminal in one line that is updated, elsewhere in
/// occasional lines.
public final class ProgressDisplay: Sendable {
    private let verb: String
    private let isTerminal: Bool
    private let pace: Mutex<ProgressPace>

    /// Creates a display that shows nothing yet.
    ///
    /// - Parameter verb: the participle for the octets, such as "received".
    public init(_ verb: String) {
        self.verb = verb
        isTerminal = isatty(STDERR_FILENO) == 1
        pace = Mutex(ProgressPace(showsEverything: isTerminal))
    }

    /// Updates the number of octets transferred.
    public func update(_ octets: Int) {
        guard pace.withLock({ $0.isDue(at: octets) }) else { return }
        show(octets)
    }

    /// Shows the final number, when the transfer is complete.
    public func finish(_ octets: Int) {
        show(octets)
        endLine()
    }

    /// Ends the line, before another message is written.
    public func endLine() {
        Diagnostics.standardError.endLineInPlace(isKept: true)
    }

    private func show(_ octets: Int) {
        guard isTerminal else { return say("\(verb) \(counted(octets, "octet"))") }
        sayInPlace("\(verb) \(counted(octets, "octet"))")
    }
}

/// Decides when to show progress again. If the line can be overwritten, that is with every chunk. Otherwise it is when
/// the number has doubled since it was last shown, so that a long transfer does not fill a log.
struct ProgressPace {
    let showsEverything: Bool
    private var next = 1

    init(showsEverything: Bool) {
        self.showsEverything = showsEverything
    }

    mutating func isDue(at octets: Int) -> Bool {
        guard showsEverything || octets >= next else { return false }
        next = 2 * octets
        return true
    }
}
