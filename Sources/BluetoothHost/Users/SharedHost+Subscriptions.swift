import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// Subscriptions to values of peers. Each step compares the wanted configuration with the one written to the peer.
/// Several users of one characteristic share one subscription.
extension SharedHost {
    mutating func subscribe(_ call: UserCall, _ request: SubscriptionRequest, _ slot: Int, at now: Instant) {
        guard !request.configuration.isEmpty, request.characteristic < request.end else {
            return end(call, .failure(.notFound(.clientCharacteristicConfiguration)))
        }
        let index: Int
        if let known = subscription(to: request.characteristic, slot) {
            index = known
        } else {
            index = links[slot].subscriptions.count
            links[slot].subscriptions.append(SubscriptionRecord(request: request))
        }
        links[slot].subscriptions[index].holders.append(SubscriptionRecord.Holder(call: call))
        reconcileSubscription(index, slot, at: now)
    }

    mutating func unsubscribe(_ call: UserCall, from token: CallToken, _ slot: Int, at now: Instant) {
        let held = UserCall(user: call.user, token: token)
        for index in links[slot].subscriptions.indices {
            guard let holder = links[slot].subscriptions[index].holders.firstIndex(where: { $0.call == held })
            else { continue }
            let removed = links[slot].subscriptions[index].holders.remove(at: holder)
            if !removed.isConfirmed { end(held, .failure(.cancelled)) }
            links[slot].subscriptions[index].leaving.append(call)
            return reconcileSubscription(index, slot, at: now)
        }
        end(call, .success(.done))
    }

    /// Cancels a subscription without a waiting call, or one that has not begun. False if the token is not a
    /// subscription.
    mutating func cancelSubscribing(_ call: UserCall, _ slot: Int, at now: Instant) -> Bool {
        for index in links[slot].subscriptions.indices {
            guard let holder = links[slot].subscriptions[index].holders.firstIndex(where: { $0.call == call })
            else { continue }
            let removed = links[slot].subscriptions[index].holders.remove(at: holder)
            if !removed.isConfirmed { end(call, .failure(.cancelled)) }
            reconcileSubscription(index, slot, at: now)
            return true
        }
        return false
    }

    /// A user leaves a link. What it waits for ends.
    mutating func dropSubscriptions(of user: UserID, _ slot: Int, at now: Instant) {
        for index in links[slot].subscriptions.indices {
            let holders = links[slot].subscriptions[index].holders
            links[slot].subscriptions[index].holders.removeAll { $0.call.user == user }
            for holder in holders where holder.call.user == user && !holder.isConfirmed {
                end(holder.call, .failure(.cancelled))
            }
        }
        reconcileSubscriptions(slot, at: now)
    }

    mutating func reconcileSubscriptions(_ slot: Int, at now: Instant) {
        for index in links[slot].subscriptions.indices.reversed() { reconcileSubscription(index, slot, at: now) }
    }

    /// Moves one subscription a step towards the wanted configuration.
    private mutating func reconcileSubscription(_ index: Int, _ slot: Int, at now: Instant) {
        guard links[slot].isInUse, !links[slot].isEnding else { return }
        let isWanted = !links[slot].subscriptions[index].holders.isEmpty
        switch links[slot].subscriptions[index].state {
        case .finding, .enabling, .disabling: return
        case .on where isWanted:
            confirm(index, slot)
            left(index, slot, .success(.done))
        case .on:
            let request = links[slot].subscriptions[index].request
            guard let descriptor = links[slot].configurationDescriptors[request.characteristic] else { return }
            links[slot].subscriptions[index].state = .disabling
            start(.configure(descriptor: descriptor, []), for: .subscription(request.characteristic), slot, at: now)
        case .off where isWanted:
            left(index, slot, .success(.done))
            let request = links[slot].subscriptions[index].request
            if let descriptor = links[slot].configurationDescriptors[request.characteristic] {
                enable(index, descriptor, slot, at: now)
            } else {
                links[slot].subscriptions[index].state = .finding
                let first = AttributeHandle(request.characteristic.rawValue + 1)
                start(
                    .discoverDescriptors(in: first...request.end), for: .subscription(request.characteristic), slot,
                    at: now)
            }
        case .off:
            left(index, slot, .success(.done))
            links[slot].subscriptions.remove(at: index)
        }
    }

    private mutating func enable(_ index: Int, _ descriptor: AttributeHandle, _ slot: Int, at now: Instant) {
        let request = links[slot].subscriptions[index].request
        links[slot].subscriptions[index].state = .enabling
        start(
            .configure(descriptor: descriptor, request.configuration), for: .subscription(request.characteristic), slot,
            at: now)
    }

    /// The peer has answered, or the request failed.
    mutating func subscriptionStepped(
        _ handle: AttributeHandle, _ result: Result<GATTClientResult, HostError>, _ slot: Int, at now: Instant
    ) {
        // Its services may have changed meanwhile.
        guard let index = subscription(to: handle, slot) else { return }
        switch (links[slot].subscriptions[index].state, result) {
        case (.finding, .success(.descriptors(let descriptors))):
            guard let found = descriptors.first(where: { $0.uuid == .clientCharacteristicConfiguration }) else {
                return refused(index, slot, .notFound(.clientCharacteristicConfiguration), at: now)
            }
            links[slot].configurationDescriptors[handle] = found.handle
            links[slot].subscriptions[index].state = .off
        case (.enabling, .success):
            links[slot].subscriptions[index].state = .on
            confirm(index, slot)
        case (.disabling, .success):
            links[slot].subscriptions[index].state = .off
            left(index, slot, .success(.done))
        case (.disabling, .failure(let error)):
            // The peer refused: values may still arrive, but no user wants them.
            links[slot].subscriptions[index].state = .off
            left(index, slot, .failure(error))
        case (_, .failure(let error)): return refused(index, slot, error, at: now)
        case (_, .success): return refused(index, slot, .notFound(.clientCharacteristicConfiguration), at: now)
        }
        reconcileSubscription(index, slot, at: now)
    }

    private mutating func refused(_ index: Int, _ slot: Int, _ error: HostError, at now: Instant) {
        links[slot].subscriptions[index].state = .off
        let holders = links[slot].subscriptions[index].holders
        links[slot].subscriptions[index].holders = []
        for holder in holders where !holder.isConfirmed { end(holder.call, .failure(error)) }
        reconcileSubscription(index, slot, at: now)
    }

    private mutating func confirm(_ index: Int, _ slot: Int) {
        for holder in links[slot].subscriptions[index].holders.indices
        where !links[slot].subscriptions[index].holders[holder].isConfirmed {
            links[slot].subscriptions[index].holders[holder].isConfirmed = true
            end(links[slot].subscriptions[index].holders[holder].call, .success(.done))
        }
    }

    private mutating func left(_ index: Int, _ slot: Int, _ result: Result<CallResult, HostError>) {
        guard !links[slot].subscriptions[index].leaving.isEmpty else { return }
        let leaving = links[slot].subscriptions[index].leaving
        links[slot].subscriptions[index].leaving = []
        for call in leaving { end(call, result) }
    }

    private func subscription(to handle: AttributeHandle, _ slot: Int) -> Int? {
        links[slot].subscriptions.firstIndex { $0.request.characteristic == handle }
    }

    /// The peer's services in these handles have changed: subscriptions there are over, and known Client Characteristic
    /// Configuration descriptors there are forgotten.
    mutating func invalidateSubscriptions(in handles: ClosedRange<AttributeHandle>, _ slot: Int) {
        links[slot].configurationDescriptors = links[slot].configurationDescriptors.filter {
            !handles.contains($0.key) && !handles.contains($0.value)
        }
        let gone = links[slot].subscriptions.filter { handles.contains($0.request.characteristic) }
        links[slot].subscriptions.removeAll { handles.contains($0.request.characteristic) }
        for subscription in gone {
            for holder in subscription.holders where !holder.isConfirmed {
                end(holder.call, .failure(.servicesChanged))
            }
            for call in subscription.leaving { end(call, .success(.done)) }
        }
    }
}
