/// Something that happens to an adapter as a whole.
public enum AdapterEvent: Sendable {
    /// A link is there, in either role.
    case connected(Connection)
    case disconnected(Connection, DisconnectReason)
    /// The controller failed and is being reset. Links are gone; scanning, advertising and published services go on by
    /// themselves once it is back.
    case resetting(String)
    /// The controller is back.
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
