import BluetoothHost
import Synchronization

/// The calls on their way to an adapter's thread, in the order in which they were made.
final class Mailbox: Sendable {
    /// What is asked of the thread.
    enum Letter: Sendable {
        case call(HostCall)
        case attach(UserID, any AdapterObserver)
        case close
    }

    private struct State {
        var letters: [Letter] = []
        /// Whether somebody is about to look for letters, so that nobody needs to be woken.
        var isAttended = true
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Whether a letter was taken, and whether somebody has to be woken for it.
    enum Receipt {
        case refused
        case taken(needsWake: Bool)
    }

    func put(_ letter: Letter) -> Receipt {
        state.withLock { state in
            guard !state.isClosed else { return .refused }
            state.letters.append(letter)
            defer { state.isAttended = true }
            return .taken(needsWake: !state.isAttended)
        }
    }

    /// Takes the letters there are, at most as many as one turn carries out.
    ///
    /// - Parameter letters: an empty array, whose memory is used again.
    func take(into letters: inout [Letter]) {
        state.withLock { state in
            state.isAttended = true
            if state.letters.count <= Self.lettersPerTurn {
                swap(&letters, &state.letters)
            } else {
                letters.append(contentsOf: state.letters.prefix(Self.lettersPerTurn))
                state.letters.removeFirst(Self.lettersPerTurn)
            }
        }
    }

    /// So that neither calls nor packets starve the other.
    private static let lettersPerTurn = 512

    /// The thread is about to wait. False where there is a letter: then it is not to.
    func leave() -> Bool {
        state.withLock { state in
            guard state.letters.isEmpty else { return false }
            state.isAttended = false
            return true
        }
    }

    /// Takes no letters any more. Those that are there are still to be taken.
    func close() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock { $0.isClosed } }
}
