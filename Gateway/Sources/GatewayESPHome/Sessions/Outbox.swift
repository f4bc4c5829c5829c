import NIOCore
import Synchronization

/// What waits to be sent to a client, from whatever thread it comes. It has a bound: a client that does not read loses
/// advertisements first, and then its connection.
final class Outbox: Sendable {
    /// Asks the connection's handler to send what waits.
    struct Drain: Sendable {}

    private struct State {
        var frames: [Frame] = []
        var octets = 0
        var isAsked = false
        var isOverfull = false
        var dropped: UInt64 = 0
    }

    /// So many octets may wait before advertisements are dropped, and before the connection ends.
    static let advertisementLimit = 64 << 10
    static let limit = 1 << 20

    private let state = Mutex(State())
    private let ask: @Sendable () -> Void

    /// - Parameter ask: called once when something waits, until `take` is.
    init(ask: @escaping @Sendable () -> Void) { self.ask = ask }

    /// Puts a message behind the others.
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

    /// What waits, if it can be sent; nil if more came than could be kept.
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

    /// How many messages with advertisements were dropped.
    var dropped: UInt64 { state.withLock { $0.dropped } }
}
