/// How many updates of a manager's values wait to be sent, to whomever.
struct UpdateQueue {
    private var count = 0
    /// Whether an update was refused, whose sender waits to be told that there is room.
    private var isAwaited = false

    /// From how many on no more are taken.
    private static let capacity = 32

    /// Takes an update to so many centrals in. False where there is no room.
    mutating func add(_ centrals: Int) -> Bool {
        guard count < Self.capacity else {
            isAwaited = true
            return false
        }
        count += centrals
        return true
    }

    /// One was sent, or given up. True where somebody is to be told that there is room.
    mutating func sent() -> Bool {
        count = max(0, count - 1)
        guard isAwaited, count <= Self.capacity / 2 else { return false }
        isAwaited = false
        return true
    }
}

/// A value on its way to subscribers.
struct Update: Sendable {
    let value: [UInt8]
    let characteristic: ObjectIdentifier
    /// Whether the characteristic can notify. Otherwise, or where the subscriber wants that, it indicates.
    let isNotification: Bool
}
