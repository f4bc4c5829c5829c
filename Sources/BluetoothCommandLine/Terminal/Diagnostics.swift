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
        /// Text that the next one takes the place of.
        case inPlace
        /// Text without an end, such as a question: nothing may take its place.
        case begun
    }

    private let descriptor: Int32
    private let patience: Duration
    private let state = Mutex(State())

    /// - Parameter patience: how long the first message waits for a reader; those behind it do not.
    init(_ descriptor: Int32, patience: Duration = .milliseconds(200)) {
        self.descriptor = descriptor
        self.patience = patience
    }

    /// Writes a text, in the place of one that is written in place.
    func write(_ text: String) {
        state.withLock { state in
            write((state.line == .inPlace ? Self.erasure : "") + text, &state)
            state.line = text.isEmpty || text.hasSuffix("\n") ? .empty : .begun
        }
    }

    /// Writes a text that the next one takes the place of. It is left out while a question stands on the line.
    func writeInPlace(_ text: String) {
        state.withLock { state in
            guard state.line != .begun else { return }
            write(Self.erasure + text, &state)
            state.line = .inPlace
        }
    }

    /// Ends the line if a text stands on it in place.
    ///
    /// - Parameter isKept: whether the text stays above the next one, or is erased.
    func endLineInPlace(isKept: Bool) {
        state.withLock { state in
            guard state.line == .inPlace else { return }
            write(isKept ? "\n" : Self.erasure, &state)
            state.line = .empty
        }
    }

    /// To the beginning of the line, and erase it (ECMA-48, 8.3.41).
    private static let erasure = "\r\u{1B}[K"

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
