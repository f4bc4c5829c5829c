import BluetoothAdapter
import BluetoothHost
import BluetoothUsers
import Synchronization

/// What happened to the subevents of a set's periodic advertising.
public enum PeriodicSubeventEvent: Sendable {
    /// The controller sends these subevents next: `AdvertisingSet.setSubeventData`, or they are left out.
    case dataRequested(Range<Int>)
    /// A device has answered a subevent in one of its slots.
    case response(PeriodicAdvertisement, slot: Int)
    /// What was sent in this slot of a subevent could not be received: perhaps several devices have used it.
    case responseLost(subevent: Int, slot: Int)
}

extension AdvertisingSet {
    /// Advertises something else in place of what this set has advertised, and returns when that is on the air. Where only data of at most
    /// 252 octets of its periodic advertising changes, who is synchronized to it stays so; else it begins anew.
    ///
    /// - Throws: as `Adapter.advertise(set:)`; `.invalidParameters` where it has ended.
    public func update(_ parameters: AdvertisingParameters) async throws(BluetoothError) {
        try await router.call(.changeSet(token, parameters))
    }

    /// Sets what subevents say the next time, and in which slots they may be answered. It is said once.
    ///
    /// - Throws: `.invalidParameters` for a set without responses, or that has ended, or subevents or slots it does not have.
    public func setSubeventData(_ subevents: [PeriodicSubeventData]) async throws(BluetoothError) {
        try await router.call(.setSubeventData(token, subevents))
    }

    /// What happens to the subevents of its periodic advertising, from now on. There is one sequence: a second call ends the first.
    /// Up to 1024 events wait; beyond that the oldest are dropped.
    public func subevents() -> EventSequence<PeriodicSubeventEvent> {
        let queue = AsyncQueue<PeriodicSubeventEvent>(capacity: 1024, overflow: .dropOldest)
        let (isThere, former) = router.state.withLock { state -> (Bool, AsyncQueue<PeriodicSubeventEvent>?) in
            // A set that has ended has nothing to tell.
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

    /// The set has ended, or is stopped: there is nothing more to tell of it.
    func endSubevents(of set: CallToken) { state.withLock { $0.subevents.removeValue(forKey: set) }?.finish() }
}
