/// The round robin over the links whose send queues hold frames, so that each link sends one frame in turn.
struct SendRotation: Hashable, Sendable {
    private var last = 0
    /// The number of links with a non-empty send queue.
    private(set) var waitingCount = 0

    mutating func queueFilled() { waitingCount += 1 }

    mutating func queueEmptied() { waitingCount -= 1 }

    /// The link whose turn is next.
    ///
    /// - Parameter count: the number of slots for links.
    mutating func next(of count: Int) -> LinkSlot {
        last = last &+ 1 < count ? last &+ 1 : 0
        return LinkSlot(index: last)
    }
}
