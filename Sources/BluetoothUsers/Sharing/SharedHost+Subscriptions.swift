import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Passes calls and responses to each link's `Subscriptions`, and carries out their effects.
extension SharedHost {
    mutating func subscribe(_ call: UserCall, _ request: SubscriptionRequest, _ slot: LinkSlot, at now: Instant) {
        guard !request.configuration.isEmpty, request.characteristic < request.end else {
            return end(call, .failure(.notFound(.clientCharacteristicConfiguration)))
        }
        perform(
            links[slot.index].subscriptions.add(call, request, mayAsk: links[slot.index].readiness.mayAsk), slot,
            at: now)
    }

    mutating func unsubscribe(_ call: UserCall, from token: CallToken, _ slot: LinkSlot, at now: Instant) {
        let held = UserCall(user: call.user, token: token)
        if let waiting = links[slot.index].scheduler.remove(held) { end(waiting, .failure(.cancelled)) }
        let mayAsk = links[slot.index].readiness.mayAsk
        guard let effects = links[slot.index].subscriptions.remove(held, for: call, mayAsk: mayAsk) else {
            return end(call, .success(.done))
        }
        perform(effects, slot, at: now)
    }

    /// Ends all subscriptions of a user to a characteristic.
    mutating func unsubscribe(
        _ call: UserCall, from characteristic: AttributeHandle, _ slot: LinkSlot, at now: Instant
    ) {
        let mayAsk = links[slot.index].readiness.mayAsk
        guard let effects = links[slot.index].subscriptions.remove(allOf: call, to: characteristic, mayAsk: mayAsk)
        else {
            return end(call, .success(.done))
        }
        perform(effects, slot, at: now)
    }

    /// Cancels the subscription that a call holds, or one that has not begun. Returns false if the call has no
    /// subscription.
    mutating func cancelSubscribing(_ call: UserCall, _ slot: LinkSlot, at now: Instant) -> Bool {
        guard let effects = links[slot.index].subscriptions.remove(call, mayAsk: links[slot.index].readiness.mayAsk)
        else {
            return false
        }
        perform(effects, slot, at: now)
        return true
    }

    /// Ends the subscriptions of a user that releases a link, including those that are still waiting for their turn.
    mutating func dropSubscriptions(of user: UserID, _ slot: LinkSlot, at now: Instant) {
        let held = links[slot.index].scheduler.takeCalls(of: user) { kind in
            if case .subscribe = kind { true } else { false }
        }
        for call in held { end(UserCall(call), .failure(.cancelled)) }
        perform(links[slot.index].subscriptions.drop(user, mayAsk: links[slot.index].readiness.mayAsk), slot, at: now)
    }

    mutating func reconcileSubscriptions(_ slot: LinkSlot, at now: Instant) {
        perform(links[slot.index].subscriptions.reconcileAll(mayAsk: links[slot.index].readiness.mayAsk), slot, at: now)
    }

    /// Handles the peer's response, or the failure of a request.
    mutating func subscriptionStepped(
        _ handle: AttributeHandle, _ result: Result<GATTClientResult, HostError>, _ slot: LinkSlot,
        at now: Instant
    ) {
        let event: Subscription.Event =
            switch result {
            case .success(.descriptors(let descriptors)): .found(descriptors)
            case .success: .written
            case .failure(let error): .failed(error)
            }
        let mayAsk = links[slot.index].readiness.mayAsk
        perform(links[slot.index].subscriptions.handle(event, of: handle, mayAsk: mayAsk), slot, at: now)
    }

    /// The index of the subscription that a value belongs to; nil without a subscription.
    ///
    /// If the write of the descriptor had to wait for other operations, this is when the host finds out that it has
    /// been sent. A value that arrived before that belongs to an earlier subscription.
    mutating func unsettledSubscription(to handle: AttributeHandle, _ slot: LinkSlot, at now: Instant) -> Int? {
        guard let index = links[slot.index].subscriptions.index(of: handle) else { return nil }
        if links[slot.index].subscriptions.isEnabling(at: index), isConfiguring(handle, slot) {
            perform(links[slot.index].subscriptions.begin(at: index), slot, at: now)
        }
        return index
    }

    /// Whether the write of a characteristic's descriptor has been sent and is waiting for the peer's response.
    private func isConfiguring(_ handle: AttributeHandle, _ slot: LinkSlot) -> Bool {
        links[slot.index].scheduler.operations.contains { operation in
            guard case .subscription(handle) = operation.purpose else { return false }
            return host.isUnderWay(operation.identifier, on: links[slot.index].identifier)
        }
    }

    /// Carries out the effects of a link's subscriptions.
    mutating func perform(_ effects: [Subscription.Effect], _ slot: LinkSlot, at now: Instant) {
        for effect in effects {
            switch effect {
            case .start(let operation, let characteristic):
                start(operation, for: .subscription(characteristic), slot, at: now)
            case .end(let call, let result): end(call, result)
            case .began(let call): tell(.subscriptionBegan(links[slot.index].identifier, call.token), to: call.user)
            case .learned, .over: continue
            }
        }
    }
}
