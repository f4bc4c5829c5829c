import BluetoothLE
import BluetoothPlatform
import Synchronization

/// What is written for the user, on standard error.
///
/// Nobody has to read it. A pipe that is full, or a terminal that was stopped, must not hold up a program that serves others,
/// or one that was told to end: what does not fit in good time is dropped, and later it is said how much that was.
final class Diagnostics: Sendable {
    static let standardError = Diagnostics(STDERR_FILENO)

    private struct State {
        /// How many messages were dropped since the last one that was not.
        var dropped = 0
        var line = Line.empty
    }

    /// What stands on the line of the cursor.
    private enum Line {
        case empty
        /// Octets of standard output without the end of their line. Nothing may erase them.
        case output
        /// Text that the next one takes the place of.
        case inPlace
        /// A question. Later output is printed above it.
        case question(String)
        /// Nothing, while so many threads write to standard output. Then the question is written again.
        case hidden(String, writerCount: Int)
    }

    private let descriptor: Int32
    private let patience: Duration
    /// Whether standard output is on the same screen.
    private let sharesScreen: Bool
    /// The width of the screen.
    private let columns: @Sendable () -> Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - patience: how long the first message waits for a reader; those behind it do not.
    ///   - sharesScreen: whether standard output is on the same screen; by default if both are terminals.
    ///   - columns: the width of the screen; by default that of the terminal.
    init(
        _ descriptor: Int32, patience: Duration = .milliseconds(200), sharesScreen: Bool? = nil,
        columns: (@Sendable () -> Int)? = nil
    ) {
        self.descriptor = descriptor
        self.patience = patience
        self.columns = columns ?? { StandardStreams.columns(of: descriptor) }
        self.sharesScreen = sharesScreen ?? (isatty(descriptor) == 1 && isatty(STDOUT_FILENO) == 1)
    }

    /// Writes lines, in the place of a text in place, and above a question.
    func write(_ lines: String) {
        state.withLock { state in
            switch state.line {
            case .empty, .hidden: write(lines, &state)
            case .output:
                write("\n" + lines, &state)
                state.line = .empty
            case .inPlace:
                write(Self.erasure + lines, &state)
                state.line = .empty
            case .question(let question): write(erasure(of: question) + lines + question, &state)
            }
        }
    }

    /// Writes a question, which stays on its line until it is answered or withdrawn.
    func ask(_ question: String) {
        state.withLock { state in
            switch state.line {
            case .inPlace: write(Self.erasure, &state)
            case .output: write("\n", &state)
            case .hidden(_, let count):
                state.line = .hidden(question, writerCount: count)
                return
            case .empty, .question: break
            }
            write(question, &state)
            state.line = .question(question)
        }
    }

    /// A line was typed behind the question: the cursor is on the next one.
    func questionAnswered() {
        state.withLock { state in
            switch state.line {
            case .question, .hidden: state.line = .empty
            case .empty, .output, .inPlace: break
            }
        }
    }

    /// The question no longer needs an answer.
    func withdrawQuestion() {
        state.withLock { state in
            switch state.line {
            case .question: write("\n", &state)
            case .hidden: break
            case .empty, .output, .inPlace: return
            }
            state.line = .empty
        }
    }

    /// Writes a text that the next one takes the place of. It is left out while there is a question.
    func writeInPlace(_ text: String) {
        state.withLock { state in
            switch state.line {
            case .question, .hidden: return
            case .output: write("\n" + text, &state)
            case .empty, .inPlace: write(Self.erasure + text, &state)
            }
            state.line = .inPlace
        }
    }

    /// Ends the line if a text stands on it in place.
    ///
    /// - Parameter isKept: whether the text stays above the next one, or is erased.
    func endLineInPlace(isKept: Bool) {
        state.withLock { state in
            guard case .inPlace = state.line else { return }
            write(isKept ? "\n" : Self.erasure, &state)
            state.line = .empty
        }
    }

    /// Carries out `body`, which writes to standard output. If that is on the same screen, a text in place is erased first, and a
    /// question is written again below the output.
    ///
    /// The lock is not held meanwhile: a thread with a message need not wait until standard output is read.
    ///
    /// - Parameter endsLine: whether the last octet ends a line. If not, a question and messages begin on the next one.
    func makingRoom<Failure: Error>(
        endsLine: Bool = true, for body: () throws(Failure) -> Void
    ) throws(Failure) {
        guard sharesScreen else { return try body() }
        state.withLock { state in
            switch state.line {
            case .empty, .output: return
            case .inPlace:
                write(Self.erasure, &state)
                state.line = .empty
            case .question(let question):
                write(erasure(of: question), &state)
                state.line = .hidden(question, writerCount: 1)
            case .hidden(let question, let count): state.line = .hidden(question, writerCount: count + 1)
            }
        }
        defer { state.withLock { state in outputWritten(endsLine: endsLine, &state) } }
        try body()
    }

    private func outputWritten(endsLine: Bool, _ state: inout State) {
        switch state.line {
        case .empty, .output: state.line = endsLine ? .empty : .output
        case .hidden(let question, writerCount: 1):
            write((endsLine ? "" : "\n") + question, &state)
            state.line = .question(question)
        case .hidden(let question, let count): state.line = .hidden(question, writerCount: count - 1)
        // They were written meanwhile, by another thread.
        case .inPlace, .question: break
        }
    }

    /// To the beginning of the line, and erase it (ECMA-48, 8.3.41).
    private static let erasure = "\r\u{1B}[K"

    /// Erases a question on all rows that it takes (ECMA-48, 8.3.22 and 8.3.39).
    private func erasure(of question: String) -> String {
        // A terminal begins the next row only with the next character.
        let rows = max(0, CellText.width(of: question) - 1) / max(1, columns())
        return rows == 0 ? Self.erasure : "\r\u{1B}[\(rows)A\u{1B}[J"
    }

    private func write(_ text: String, _ state: inout State) {
        let isFirst = state.dropped == 0
        let note = isFirst ? "" : "(\(state.dropped) messages were dropped, since nobody read them)\n"
        if put([UInt8]((note + text).utf8), patience: isFirst ? patience : .zero) {
            state.dropped = 0
        } else {
            state.dropped += 1
        }
    }

    /// Writes bytes as far as that takes no longer than `patience`. Returns false where it would have.
    private func put(_ bytes: [UInt8], patience: Duration) -> Bool {
        let deadline = ContinuousClock.now + patience
        var rest = bytes[...]
        while !rest.isEmpty {
            guard isReady(until: deadline) else { return false }
            // What is ready takes this much without waiting (POSIX, `PIPE_BUF`).
            let count = rest.prefix(Int(PIPE_BUF)).withUnsafeBytes {
                BluetoothPlatform.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR, errno != EAGAIN {
                // Closed: there is nobody to report that to.
                return true
            }
        }
        return true
    }

    private func isReady(until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let left = max(.zero, deadline - .now)
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let count = poll(&request, 1, Int32(clamping: left.nanoseconds / 1_000_000))
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }
}
