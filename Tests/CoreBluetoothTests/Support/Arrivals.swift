import CoreBluetooth
import Synchronization

/// Counts the values that have arrived at a peer, for a delegate that blocks its queue until there is room for the
/// next.
final class Arrivals: Sendable {
    private let arrived = DispatchSemaphore(value: 0)
    private let counted = Mutex(0)

    /// One more has arrived.
    func add() { arrived.signal() }

    /// Tries to send a value. If there is no room, blocks this thread until the values before it have arrived, and
    /// tries once more. There is room then: more values wait at most than the controller has buffers, and the room of
    /// those that left its buffers before the last of them has been given back.
    ///
    /// - Parameter count: how many values were sent before.
    /// - Returns: whether it was sent. False also if nothing arrives for a minute.
    func retry(after count: Int, _ send: () -> Bool) -> Bool {
        if send() { return true }
        return counted.withLock { counted in
            while counted < count {
                guard arrived.wait(timeout: .now() + .seconds(60)) == .success else { return false }
                counted += 1
            }
            return send()
        }
    }
}
