import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Subscriptions to values of peers: calls and answers go to the link's `Subscriptions`, whose effects are carried out here.
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

    /// Cancels a subscription without a waiting call, or one that has not begun. False if the token is not a
    /// subscription.
    mutating func cancelSubscribing(_ call: UserCall, _ slot: LinkSlot, at now: Instant) -> Bool {
        guard let effects = links[slot.index].subscriptions.remove(call, mayAsk: links[slot.index].readiness.mayAsk)
        else {
            return false
        }
        perform(effects, slot, at: now)
        return true
    }

    /// A user leaves a link. What it waits for ends, and subscriptions whose turn has not come do not begin.
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

    /// The peer has answered, or the request failed.
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

    /// The subscription that a value belongs to, or its users at least; nil without a subscription.
    ///
    /// Whether the write of the descriptor has been sent is known only now where it had to wait for other operations: a value
    /// that came before it belongs to an earlier subscription.
    mutating func unsettledSubscription(to handle: AttributeHandle, _ slot: LinkSlot, at now: Instant) -> Int? {
        guard let index = links[slot.index].subscriptions.index(of: handle) else { return nil }
        if links[slot.index].subscriptions.isEnabling(at: index), isConfiguring(handle, slot) {
            perform(links[slot.index].subscriptions.begin(at: index), slot, at: now)
        }
        return index
    }

    /// Whether the peer has been sent the write of a characteristic's descriptor, and has not answered it.
    private func isConfiguring(_ handle: AttributeHandle, _ slot: LinkSlot) -> Bool {
        links[slot.index].scheduler.operations.contains { operation in
            guard case .subscription(handle) = operation.purpose else { return false }
            return host.isUnderWay(operation.identifier, on: links[slot.index].identifier)
        }
    }

    /// Carries out what a link's subscriptions ask for.
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
