import BluetoothPlatform
import Dispatch

/// A terminal on which the user is asked questions.
protocol Terminal: Sendable {
    /// Whether a user is present to answer.
    var isInteractive: Bool { get }
    /// Writes lines, above the question if there is one.
    func write(_ lines: String)
    /// Shows a question, after which the user types a line.
    func ask(_ question: String)
    /// Withdraws a question that no longer needs an answer.
    func withdrawQuestion()
    /// Discards what was typed before the question.
    func discardTypeAhead()
    /// Reads one line, without its line feed; nil at the end of the input. `receive` is called once, on any thread.
    func readLine(_ receive: @escaping @Sendable (String?) -> Void)
}

/// Standard input and standard error.
struct StandardTerminal: Terminal {
    /// The maximum length of a line, in octets. A terminal does not return longer ones.
    private static let longestLine = 4096
    /// The queue on which a read blocks while the user types.
    private static let queue = DispatchQueue(label: "terminal")

    var isInteractive: Bool { isatty(STDIN_FILENO) == 1 }

    func write(_ lines: String) { Diagnostics.standardError.write(lines) }

    func ask(_ question: String) { Diagnostics.standardError.ask(question) }

    func withdrawQuestion() { Diagnostics.standardError.withdrawQuestion() }

    func discardTypeAhead() { tcflush(STDIN_FILENO, TCIFLUSH) }

    func readLine(_ receive: @escaping @Sendable (String?) -> Void) {
        Self.queue.async {
            while true {
                var line = [UInt8](repeating: 0, count: Self.longestLine)
                // A terminal returns one line at a time.
                let count = read(STDIN_FILENO, &line, line.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return receive(nil) }
                Diagnostics.standardError.questionAnswered()
                let text = line[..<count].prefix { $0 != UInt8(ascii: "\n") }
                return receive(String(decoding: text, as: UTF8.self))
            }
        }
    }
}
