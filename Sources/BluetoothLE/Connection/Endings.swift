import BluetoothHost
import DequeModule

/// Why the links that ended last did so. A call on a link that is gone is told, and the memory for it is bounded.
struct Endings {
    private var reasons: [LinkIdentifier: DisconnectReason] = [:]
    private var order = Deque<LinkIdentifier>()

    private static let capacity = 256

    subscript(link: LinkIdentifier) -> DisconnectReason? { reasons[link] }

    mutating func insert(_ reason: DisconnectReason, for link: LinkIdentifier) {
        if order.count == Self.capacity, let oldest = order.popFirst() { reasons[oldest] = nil }
        reasons[link] = reason
        order.append(link)
    }
}
