import BluetoothLE
import Dispatch
import BluetoothPlatform
import Synchronization

/// The whole terminal, for a display that changes: the alternate screen, without a cursor, and with keys as they are
/// pressed.
///
/// The terminal is restored however the program ends, unless it is killed: by `leave`, and after a signal. It is also
/// restored while the program is stopped (Ctrl-Z).
public final class LiveScreen: Sendable {
    /// The size in character cells.
    public struct Size: Equatable, Sendable {
        /// The number of character cells in a line.
        public var columns: Int
        /// The number of lines.
        public var rows: Int

        /// Creates a size in character cells.
        public init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    /// The screen to leave if the process ends without unwinding.
    private static let current = Mutex<LiveScreen?>(nil)
    // Alternate screen, no cursor, no line breaks at the margin; and back.
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
    private static let leaving = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let original: termios
    private let isEntered = Mutex(false)
    private let queue = DispatchQueue(label: "keys")
    private let input: Mutex<any DispatchSourceRead>
    private let stop: Mutex<any DispatchSourceSignal>
    /// The keys that are pressed. The sequence ends with standard input.
    public let keys: AsyncStream<LiveKey>
    private let continuation: AsyncStream<LiveKey>.Continuation

    /// Whether standard input and output are a terminal with these capabilities.
    public static var isPossible: Bool {
        isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
            && getenv("TERM").map { String(cString: $0) } ?? "dumb" != "dumb"
    }

    /// Takes over the terminal.
    public init() throws(CommandFailure) {
        var attributes = termios()
        guard tcgetattr(STDIN_FILENO, &attributes) == 0 else {
            throw CommandFailure(.failure, "terminal: \(systemError(errno))")
        }
        original = attributes
        // If keys are not consumed, only the newest ones are kept.
        (keys, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        input = Mutex(DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue))
        stop = Mutex(DispatchSource.makeSignalSource(signal: SIGTSTP, queue: queue))
        enter()
        Self.current.withLock { $0 = self }
        watch()
    }

    /// Restores the terminal.
    public func leave() {
        Self.current.withLock { $0 = nil }
        input.withLock { $0.cancel() }
        stop.withLock { $0.cancel() }
        signal(SIGTSTP, SIG_DFL)
        continuation.finish()
        restore()
    }

    /// Restores the terminal if it was taken over, before the process ends without unwinding.
    static func leaveCurrent() { current.withLock { $0 }?.restore() }

    /// The current size.
    public var size: Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Draws lines from the top, none wider than the screen, and clears the rest of the screen.
    public func draw(_ lines: [String]) throws(CommandFailure) {
        guard isEntered.withLock({ $0 }) else { return }
        let text = "\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
        try write(Array(text.utf8), to: STDOUT_FILENO)
    }

    // MARK: - Modes

    private func enter() {
        isEntered.withLock { isEntered in
            isEntered = true
            var attributes = original
            // Keys are read one by one, without echo. Those that send signals still do.
            attributes.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
            Self.put(Self.entering)
        }
    }

    private func restore() {
        isEntered.withLock { isEntered in
            guard isEntered else { return }
            isEntered = false
            var attributes = original
            tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
            Self.put(Self.leaving)
        }
    }

    /// Writes a few octets, unless the terminal accepts none for a while.
    private static func put(_ text: String) {
        var request = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&request, 1, 200) > 0 else { return }
        Array(text.utf8).withUnsafeBytes { _ = BluetoothPlatform.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }

    // MARK: - Keys and Ctrl-Z

    private func watch() {
        // Ignored, so that the signal does not stop the process immediately. The dispatch source handles it.
        signal(SIGTSTP, SIG_IGN)
        input.withLock { input in
            input.setEventHandler { [weak self] in self?.read() }
            input.resume()
        }
        stop.withLock { stop in
            stop.setEventHandler { [weak self] in self?.suspend() }
            stop.resume()
        }
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = BluetoothPlatform.read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else {
            if count == 0 || (errno != EINTR && errno != EAGAIN) {
                input.withLock { $0.cancel() }
                continuation.finish()
            }
            return
        }
        for key in LiveKey.keys(in: bytes[..<count]) { continuation.yield(key) }
    }

    /// Restores the terminal, and waits until the process is continued.
    private func suspend() {
        restore()
        kill(getpid(), SIGSTOP)
        enter()
    }
}

/// A key that was pressed.
public enum LiveKey: Hashable, Sendable {
    case character(Character)
    case up, down, pageUp, pageDown, home, end
    case enter, backspace, escape

    /// The keys in one piece of input from a terminal. Unknown sequences are skipped.
    static func keys(in bytes: ArraySlice<UInt8>) -> [LiveKey] {
        var keys: [LiveKey] = []
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "\r", "\n": keys.append(.enter)
            case "\u{7F}", "\u{8}": keys.append(.backspace)
            case "\u{1B}":
                guard scalars.first == "[" || scalars.first == "O" else {
                    keys.append(.escape)
                    continue
                }
                scalars.removeFirst()
                var sequence = ""
                while let next = scalars.popFirst() {
                    sequence.unicodeScalars.append(next)
                    // The final byte of a sequence (ECMA-48, 5.4).
                    if ("@"..."~").contains(next) { break }
                }
                if let key = sequences[sequence] { keys.append(key) }
            case " "...: keys.append(.character(Character(scalar)))
            default: break
            }
        }
        return keys
    }

    private static let sequences: [String: LiveKey] = [
        "A": .up, "B": .down, "5~": .pageUp, "6~": .pageDown, "H": .home, "F": .end, "1~": .home, "4~": .end,
    ]
}
