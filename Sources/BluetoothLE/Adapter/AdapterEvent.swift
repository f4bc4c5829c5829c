/// Something that happens to an adapter as a whole.
public enum AdapterEvent: Sendable {
    /// A link is there, in either role.
    case connected(Connection)
    case disconnected(Connection, DisconnectReason)
    /// The controller failed and is being reset. Links are gone; scanning, advertising and published services go on by
    /// themselves once it is back.
    case resetting(String)
    /// The controller is gone: unplugged, given up, or no longer to be reached; the error says which. Whatever was
    /// pending has ended with `.adapterRemoved`. The adapter waits for it, and `ready` tells when it is back.
    case removed(BluetoothError)
    /// The controller is back, after `resetting` or `removed`; what is advertised and published is there again.
    case ready
}

extension Adapter {
    /// What happens to the adapter from now on. A consumer that falls 256 events behind misses the oldest.
    public func events() -> EventSequence<AdapterEvent> {
        let number = makeNumber()
        let queue = AsyncQueue<AdapterEvent>(capacity: 256, overflow: .dropOldest)
        if case .closed(let error) = state { queue.finish(error) } else { observers[number] = WeakQueue(queue: queue) }
        return EventSequence(queue) { [weak self] in
            Task { await self?.endObserving(number) }
        }
    }

    private func endObserving(_ number: Int) { observers[number] = nil }

    func publish(_ event: AdapterEvent) {
        for observer in observers.values { observer.queue?.push(event) }
    }
}
