import BluetoothCommandLine
import BluetoothPlatform
import Synchronization

/// Shows the number of octets that a channel has carried, and the rate. On a terminal, one line is updated during the
/// transfer. At the end there is a summary.
final class TransferDisplay: Sendable {
    private struct State {
        var counts = TransferCounts()
        var next: ContinuousClock.Instant
    }

    /// The minimum interval between updates.
    private static let pace = Duration.milliseconds(200)

    /// The standard streams that are terminals.
    struct Terminals {
        var input = isatty(STDIN_FILENO) == 1
        var output = isatty(STDOUT_FILENO) == 1
        var errors = isatty(STDERR_FILENO) == 1

        /// Whether a line that is updated in place would not interfere. If the input is a terminal, the user types
        /// lines on it. If the output is one, received octets appear on it.
        func allowLine(beside counts: TransferCounts) -> Bool {
            errors && !input && (!output || counts.received == 0)
        }
    }

    private let start: ContinuousClock.Instant
    private let terminals = Terminals()
    private let state: Mutex<State>

    init() {
        start = .now
        state = Mutex(State(next: start + Self.pace))
    }

    func sent(_ count: Int) { add { $0.sent += count } }

    /// Records that octets were received. On a terminal they are shown after this.
    func received(_ count: Int) { add { $0.received += count } }

    private func add(_ change: (inout TransferCounts) -> Void) {
        let now = ContinuousClock.now
        let counts = state.withLock { state -> TransferCounts? in
            change(&state.counts)
            guard terminals.allowLine(beside: state.counts), now >= state.next else { return nil }
            state.next = now + Self.pace
            return state.counts
        }
        if let counts { sayInPlace(counts.text(after: now - start)) }
    }

    /// Prints the summary when the channel is closed, unless the channel has carried nothing.
    func end() {
        let counts = state.withLock { $0.counts }
        eraseLineInPlace()
        if counts.sent + counts.received > 0 { say(counts.text(after: .now - start)) }
    }
}

/// The number of octets that a channel has carried.
struct TransferCounts: Equatable {
    var sent = 0
    var received = 0

    /// "sent 1048576 octets, 327 kB/s": the octets in each direction, with the average rate.
    func text(after time: Duration) -> String {
        [("sent", sent), ("received", received)].filter { $0.1 > 0 }.map { verb, count in
            "\(verb) \(counted(count, "octet")), \(Self.rate(count, time))"
        }.joined(separator: ", ")
    }

    private static func rate(_ count: Int, _ time: Duration) -> String {
        let perSecond = Double(count) / max(time / .seconds(1), 0.001)
        switch perSecond {
        case ..<1000: return "\(Int(perSecond.rounded())) B/s"
        case ..<10_000: return "\((perSecond / 100).rounded() / 10) kB/s"
        case ..<1_000_000: return "\(Int((perSecond / 1000).rounded())) kB/s"
        default: return "\((perSecond / 100_000).rounded() / 10) MB/s"
        }
    }
}
