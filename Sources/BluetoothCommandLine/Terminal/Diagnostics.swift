import BluetoothLE
import BluetoothPlatform
import Synchronization

/// Messages for the user, on standard error.
///
/// The messages may have no reader. A full pipe or a stopped terminal must not hold up a program that serves others, or
/// one that was asked to end. Messages that cannot be written in time are dropped, and a later message reports their
/// number.
final class Diagnostics: Sendable {
    static let standardError = Diagnostics(STDERR_FILENO)

    private struct State {
        /// The number of messages dropped since the last one that was written.
        var dropped = 0
        var line = Line.empty
    }

    /// The contents of the cursor's line.
    private enum Line {
        case empty
        /// Octets of standard output whose line has not ended. They must not be erased.
        case output
        /// Text that the next text replaces.
        case inPlace
        /// A question. Later output is printed above it.
        case question(String)
        /// Nothing, while threads write to standard output. Afterwards the question is written again.
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
    ///   - patience: how long the first message waits for a reader. Messages after a dropped one do not wait.
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

    /// Writes lines, which replace a text in place and appear above a question.
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

    /// Records that a line was typed after the question, so that the cursor is on the next line.
    func questionAnswered() {
        state.withLock { state in
            switch state.line {
            case .question, .hidden: state.line = .empty
            case .empty, .output, .inPlace: break
            }
        }
    }

    /// Withdraws the question, which no longer needs an answer.
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

    /// Writes a text that the next one replaces. It is omitted while there is a question.
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

    /// Ends the line if it contains a text in place.
    ///
    /// - Parameter isKept: whether the text stays above the next line, or is erased.
    func endLineInPlace(isKept: Bool) {
        state.withLock { state in
            guard case .inPlace = state.line else { return }
            write(isKept ? "\n" : Self.erasure, &state)
            state.line = .empty
        }
    }

    /// Runs `body`, which writes to standard output. If that is on the same screen, a text in place is erased first,
    /// and a question is written again below the output.
    ///
    /// The lock is not held in the meantime, so that a thread with a message need not wait for the reader of standard
    /// output.
    ///
    /// - Parameter endsLine: whether the last octet ends a line. If not, a question or a message begins on the next
    ///   line.
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
        // Another thread has written these in the meantime.
        case .inPlace, .question: break
        }
    }

    /// Moves to the beginning of the line, and erases it (ECMA-48, 8.3.41).
    private static let erasure = "\r\u{1B}[K"

    /// Erases a question on all rows that it occupies (ECMA-48, 8.3.22 and 8.3.39).
    private func erasure(of question: String) -> String {
        // A terminal moves to the next row only with the next character.
        let rows = max(0, CellText.width(of: question) - 1) / max(1, columns())
        return rows == 0 ? Self.erasure : "\r\u{1B}[\(rows)A\u{1B}[J"
    }

    private func write(_ text: String, _ state: inout State) {
        let isFirst = state.dropped == 0
        let note = isFirst ? "" : "(dropped \(counted(state.dropped, "message")) because nobody read them)\n"
        if put([UInt8]((note + text).utf8), patience: isFirst ? patience : .zero) {
            state.dropped = 0
        } else {
            state.dropped += 1
        }
    }

    /// Writes bytes, for at most `patience`. Returns false if they could not be written in that time.
    private func put(_ bytes: [UInt8], patience: Duration) -> Bool {
        let deadline = ContinuousClock.now + patience
        var rest = bytes[...]
        while !rest.isEmpty {
            guard isReady(until: deadline) else { return false }
            // A descriptor that is ready accepts this many octets without blocking (POSIX, `PIPE_BUF`).
            let count = rest.prefix(Int(PIPE_BUF)).withUnsafeBytes {
                BluetoothPlatform.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR, errno != EAGAIN {
                // The output is closed, so the error cannot be reported.
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
