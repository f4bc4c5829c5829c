import BluetoothPlatform
import Dispatch

/// Where questions are asked and answered.
protocol Terminal: Sendable {
    /// Whether somebody is there to answer.
    var isInteractive: Bool { get }
    /// Shows lines, above a question if there is one.
    func write(_ lines: String)
    /// Shows a question, behind which a line is typed.
    func ask(_ question: String)
    /// Withdraws a question that no longer needs an answer.
    func withdrawQuestion()
    /// Forgets what was typed before anybody asked.
    func discardTypeAhead()
    /// Reads one line, without its end; nil where there are no more. `receive` is called once, on any thread.
    func readLine(_ receive: @escaping @Sendable (String?) -> Void)
}

/// Standard input and standard error.
struct StandardTerminal: Terminal {
    /// The longest line that is taken, in octets. A terminal gives no longer ones.
    private static let longestLine = 4096
    /// It waits in the system while somebody types.
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
                // A terminal gives one line at a time.
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
