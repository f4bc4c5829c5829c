import BluetoothLE
import Dispatch
import BluetoothPlatform
import Synchronization

/// The whole terminal, for a display that changes: its other screen, without a cursor, and keys as they are pressed.
///
/// However the program ends, short of being killed, the terminal is as it was: after `leave`, after a signal, also while the
/// program is stopped (Ctrl-Z) and continued.
public final class LiveScreen: Sendable {
    /// How large it is, in character cells.
    public struct Size: Equatable, Sendable {
        public var columns: Int
        public var rows: Int

        public init(columns: Int, rows: Int) {
            self.columns = columns
            self.rows = rows
        }
    }

    /// The screen that is to be left when the process ends without further ado.
    private static let current = Mutex<LiveScreen?>(nil)
    // Other screen, no cursor, no line breaks at the margin; and back.
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J"
    private static let leaving = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let original: termios
    private let isEntered = Mutex(false)
    private let queue = DispatchQueue(label: "keys")
    private let input: Mutex<any DispatchSourceRead>
    private let stop: Mutex<any DispatchSourceSignal>
    /// The keys that are pressed. It ends where standard input does.
    public let keys: AsyncStream<LiveKey>
    private let continuation: AsyncStream<LiveKey>.Continuation

    /// Whether standard input and output are a terminal that can do that.
    public static var isPossible: Bool {
        isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
            && getenv("TERM").map { String(cString: $0) } ?? "dumb" != "dumb"
    }

    /// Takes the terminal over.
    public init() throws(CommandFailure) {
        var attributes = termios()
        guard tcgetattr(STDIN_FILENO, &attributes) == 0 else {
            throw CommandFailure(.failure, "terminal: \(systemError(errno))")
        }
        original = attributes
        // Keys that nobody takes are dropped.
        (keys, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        input = Mutex(DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue))
        stop = Mutex(DispatchSource.makeSignalSource(signal: SIGTSTP, queue: queue))
        enter()
        Self.current.withLock { $0 = self }
        watch()
    }

    /// Gives the terminal back.
    public func leave() {
        Self.current.withLock { $0 = nil }
        input.withLock { $0.cancel() }
        stop.withLock { $0.cancel() }
        signal(SIGTSTP, SIG_DFL)
        continuation.finish()
        restore()
    }

    /// Gives back the terminal if one was taken over: before the process ends without unwinding.
    static func leaveCurrent() { current.withLock { $0 }?.restore() }

    /// The size it has now.
    public var size: Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Shows lines from the top, none wider than the screen, and nothing below them.
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
            // Keys one by one and unseen; those that send signals still do.
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

    /// Writes a few octets, unless the terminal takes nothing for a while.
    private static func put(_ text: String) {
        var request = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&request, 1, 200) > 0 else { return }
        Array(text.utf8).withUnsafeBytes { _ = BluetoothPlatform.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }

    // MARK: - Keys and Ctrl-Z

    private func watch() {
        // A handler of our own, so that the signal does not stop the process at once.
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

    /// Gives the terminal back, and waits to be continued.
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

    /// The keys in what a terminal has sent at once. Sequences of keys that are not known are skipped.
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
