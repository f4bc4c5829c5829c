import NIOCore
import Synchronization

/// The messages that wait to be sent to a client, from any thread. The outbox is bounded: a client that does not read
/// loses advertisements first, and then its connection.
final class Outbox: Sendable {
    /// Asks the connection's handler to send the waiting messages.
    struct Drain: Sendable {}

    private struct State {
        var frames: [Frame] = []
        var octets = 0
        var isAsked = false
        var isOverfull = false
        var dropped: UInt64 = 0
    }

    /// The number of octets that may wait before advertisements are dropped, and before the connection ends.
    static let advertisementLimit = 64 << 10
    static let limit = 1 << 20

    private let state = Mutex(State())
    private let ask: @Sendable () -> Void

    /// - Parameter ask: called when messages are waiting, once until the next call to `take`.
    init(ask: @escaping @Sendable () -> Void) { self.ask = ask }

    /// Appends a message.
    func send(_ frame: Frame) {
        let asks = state.withLock { state in
            let length = frame.payload.count + 64
            guard !state.isOverfull else { return false }
            if frame.type == .rawAdvertisements, state.octets + length > Self.advertisementLimit {
                state.dropped += 1
                return false
            }
            if state.octets + length > Self.limit {
                state.isOverfull = true
                state.frames = []
                return true
            }
            state.frames.append(frame)
            state.octets += length
            defer { state.isAsked = true }
            return !state.isAsked
        }
        if asks { ask() }
    }

    /// Removes and returns the waiting messages if they can be sent. Returns nil if the limit was exceeded.
    func take(isWritable: Bool) -> [Frame]? {
        state.withLock { state in
            guard !state.isOverfull else { return nil }
            guard isWritable else { return [] }
            defer {
                state.frames = []
                state.octets = 0
                state.isAsked = false
            }
            return state.frames
        }
    }

    /// The number of messages with advertisements that were dropped.
    var dropped: UInt64 { state.withLock { $0.dropped } }
}
