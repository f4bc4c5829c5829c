import Glibc
import Synchronization

/// Shows on standard error how much has been transferred: in one line that is written over and over on a terminal, and
/// elsewhere in a line now and then.
public final class ProgressDisplay: Sendable {
    private struct State {
        var pace: ProgressPace
        var hasLine = false
    }

    private let verb: String
    private let isTerminal: Bool
    private let state: Mutex<State>

    /// - Parameter verb: what happens to the octets, such as "received".
    public init(_ verb: String) {
        self.verb = verb
        isTerminal = isatty(STDERR_FILENO) == 1
        state = Mutex(State(pace: ProgressPace(showsEverything: isTerminal)))
    }

    /// So many octets have been transferred.
    public func update(_ octets: Int) {
        guard state.withLock({ $0.pace.isDue(at: octets) }) else { return }
        show(octets)
    }

    /// All has been transferred.
    public func finish(_ octets: Int) {
        show(octets)
        endLine()
    }

    /// Something else is to be said: leaves the line as it is.
    public func endLine() {
        let hadLine = state.withLock { state in
            defer { state.hasLine = false }
            return state.hasLine
        }
        if hadLine { say("") }
    }

    private func show(_ octets: Int) {
        guard isTerminal else { return say("\(verb) \(octets) octets") }
        state.withLock { $0.hasLine = true }
        // Back to the margin, and clear what was there.
        try? write([UInt8]("\r\u{1B}[K\(verb) \(octets) octets".utf8), to: STDERR_FILENO)
    }
}

/// Decides when progress is worth showing again: when twice as much has been transferred as was last shown, so that a long
/// transfer does not fill a log, and, where a line can be written over, with every chunk.
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
