import BluetoothAdapter
import BluetoothHost
import BluetoothUsers
import Synchronization

/// An event of the subevents of a set's periodic advertising.
@nonexhaustive
public enum PeriodicSubeventEvent: Sendable {
    /// The controller is about to send these subevents. It omits those whose data is not set with
    /// `AdvertisingSet.setSubeventData`.
    case dataRequested(Range<Int>)
    /// A device has responded to a subevent in one of its response slots.
    case response(PeriodicAdvertisement, slot: Int)
    /// A response in this slot of a subevent could not be received, perhaps because several devices used the slot.
    case responseLost(subevent: Int, slot: Int)
}

extension AdvertisingSet {
    /// Replaces the parameters and data of the set, and returns when the new ones are on the air. If only the data of
    /// its periodic advertising changes, and has at most 252 octets, synchronized devices stay synchronized. Otherwise,
    /// its periodic advertising starts again.
    ///
    /// - Throws: the errors of `Adapter.addAdvertisingSet(_:)`, or `.invalidParameters` if the set has ended.
    public func update(_ parameters: AdvertisingParameters) async throws(BluetoothError) {
        try await router.call(.changeSet(token, parameters))
    }

    /// Sets the data that subevents carry the next time, and the slots in which devices may respond. The data is sent
    /// once.
    ///
    /// - Throws: `.invalidParameters` if the set has ended or has no responses, or for subevents or slots that it does
    ///   not have.
    public func setSubeventData(_ subevents: [PeriodicSubeventData]) async throws(BluetoothError) {
        try await router.call(.setSubeventData(token, subevents))
    }

    /// The events of the subevents of the set's periodic advertising, from now on. Only one such sequence exists: a
    /// second call ends the first one. Up to 1024 events are buffered. Beyond that, the oldest are dropped.
    public func subevents() -> EventSequence<PeriodicSubeventEvent> {
        let queue = AsyncQueue<PeriodicSubeventEvent>(capacity: 1024, overflow: .dropOldest)
        let (isThere, former) = router.state.withLock { state -> (Bool, AsyncQueue<PeriodicSubeventEvent>?) in
            // A set that has ended reports nothing.
            guard state.advertisingSets[token] != nil else { return (false, nil) }
            return (true, state.subevents.updateValue(queue, forKey: token))
        }
        former?.finish()
        if !isThere { queue.finish() }
        return EventSequence(queue) { [weak router, token] in
            router?.state.withLock { state in
                if state.subevents[token] === queue { state.subevents[token] = nil }
            }
        }
    }
}

extension EventRouter {
    func handle(_ event: HostEvent.Subevents, of set: CallToken, _ data: [UInt8]) {
        guard let queue = state.withLock({ $0.subevents[set] }) else { return }
        switch event {
        case .dataRequested(let first, let count): queue.push(.dataRequested(first..<(first + count)))
        case .response(_, let slot, let report):
            queue.push(.response(PeriodicAdvertisement(report, data), slot: slot))
        case .responseLost(let subevent, let slot): queue.push(.responseLost(subevent: subevent, slot: slot))
        }
    }

    /// Ends the events of a set that has ended or was stopped.
    func endSubevents(of set: CallToken) { state.withLock { $0.subevents.removeValue(forKey: set) }?.finish() }
}
