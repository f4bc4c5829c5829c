import BluetoothLE
import BluetoothCommandLine
import Dispatch
import BluetoothPlatform
import Synchronization

/// Standard input, read in pieces on request. A read can be cancelled.
final class StandardInput: Sendable {
    private enum State {
        case idle
        /// A piece is being read for this reader.
        case reading(CheckedContinuation<Piece, Never>)
        /// The reader was cancelled. Input that is read after that is lost, and there are no further reads.
        case cancelled
    }

    private enum Piece {
        case octets([UInt8])
        case failure(Int32)
        case cancelled
    }

    private let state = Mutex(State.idle)
    private let hasEnded = Atomic(false)
    /// The queue on which a read blocks until there is input.
    private let queue = DispatchQueue(label: "standard input")

    /// Returns the next octets; none at the end.
    func read() async throws -> [UInt8] {
        let piece = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Piece, Never>) in
                let isWanted = state.withLock { state in
                    guard case .idle = state else { return false }
                    state = .reading(continuation)
                    return true
                }
                guard isWanted else { return continuation.resume(returning: .cancelled) }
                queue.async { self.deliver(Self.readPiece()) }
            }
        } onCancel: {
            let reader = state.withLock { state -> CheckedContinuation<Piece, Never>? in
                guard case .reading(let reader) = state else {
                    state = .cancelled
                    return nil
                }
                state = .cancelled
                return reader
            }
            reader?.resume(returning: .cancelled)
        }
        switch piece {
        case .octets(let octets):
            if octets.isEmpty { hasEnded.store(true, ordering: .relaxed) }
            return octets
        case .failure(let code):
            throw CommandFailure(.failure, "standard input: \(strerror(code).map { String(cString: $0) } ?? "\(code)")")
        case .cancelled: throw BluetoothError.cancelled
        }
    }

    /// Whether a read would return immediately, even if it only reports the end for the first time.
    var hasMore: Bool {
        var request = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return !hasEnded.load(ordering: .relaxed) && poll(&request, 1, 0) > 0
    }

    private func deliver(_ piece: Piece) {
        let reader = state.withLock { state -> CheckedContinuation<Piece, Never>? in
            guard case .reading(let reader) = state else { return nil }
            state = .idle
            return reader
        }
        reader?.resume(returning: piece)
    }

    private static func readPiece() -> Piece {
        var octets = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = BluetoothPlatform.read(STDIN_FILENO, &octets, octets.count)
            if count >= 0 { return .octets(Array(octets[..<count])) }
            if errno == EAGAIN {
                var request = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                poll(&request, 1, -1)
            } else if errno != EINTR {
                return .failure(errno)
            }
        }
    }
}
