#if Combine
import Foundation
import OpenCombine

/// The connection of one subscriber to several publishers: their subscriptions, the remaining demand, and the
/// publishers that have finished. Subclasses determine how elements are combined.
class JoinedSubscription<Input, Output, Failure: Error>: Subscription {
    /// One of the publishers.
    struct Side: Subscriber {
        let joined: JoinedSubscription
        let index: Int
        let combineIdentifier = CombineIdentifier()

        func receive(subscription: any Subscription) { joined.receive(subscription, from: index) }
        func receive(_ input: Input) -> Subscribers.Demand { joined.receive(input, from: index) }
        func receive(completion: Subscribers.Completion<Failure>) { joined.receive(completion, from: index) }
    }

    /// The state that the lock protects.
    struct State {
        var subscriptions: [(any Subscription)?]
        var demand = Subscribers.Demand.none
        var finished: Set<Int> = []
        var isOver = false
    }

    private let lock = NSLock()
    private var state: State
    // Serializes deliveries. Recursive, so that an element sent while another one is being received is delivered
    // immediately.
    private let delivery = NSRecursiveLock()
    private let deliver: (Output) -> Subscribers.Demand
    private let complete: (Subscribers.Completion<Failure>) -> Void

    init<Downstream: Subscriber>(_ downstream: Downstream, count: Int)
    where Downstream.Input == Output, Downstream.Failure == Failure {
        state = State(subscriptions: Array(repeating: nil, count: count))
        deliver = { downstream.receive($0) }
        complete = { downstream.receive(completion: $0) }
    }

    func withState<Result>(_ body: (inout State) -> Result) -> Result { lock.withLock { body(&state) } }

    /// Delivers an element, unless the subscription has ended in the meantime. Returns the subscriber's additional
    /// demand.
    func delivered(_ output: Output) -> Subscribers.Demand {
        delivery.withLock { withState { $0.isOver } ? .none : deliver(output) }
    }

    // MARK: Overridden by subclasses

    /// The demand to request from a publisher after subscribing to it.
    func initialDemand(_ state: State) -> Subscribers.Demand { state.demand }

    /// Handles an element of a publisher. Returns the additional demand for that publisher.
    func receive(_ input: Input, from index: Int) -> Subscribers.Demand { .none }

    /// Handles additional demand of the subscriber. The demand in the state has already been increased.
    func requested(_ demand: Subscribers.Demand) {}

    /// Whether elements are held back that must be delivered before the completion. Called with the lock held.
    func holdsElements() -> Bool { false }

    // MARK: Subscription

    func request(_ demand: Subscribers.Demand) {
        let isOver = withState { state in
            state.demand += demand
            return state.isOver
        }
        if !isOver, demand > .none { requested(demand) }
    }

    func cancel() { over()?.forEach { $0.cancel() } }

    /// Passes demand on to all publishers except one.
    func requestUpstream(_ demand: Subscribers.Demand, except index: Int? = nil) {
        for (other, subscription) in withState({ $0.subscriptions }).enumerated() where other != index {
            subscription?.request(demand)
        }
    }

    /// Finishes if all publishers have finished and no element is held back.
    func finishIfDone() {
        let isDone = withState { $0.finished.count == $0.subscriptions.count && !$0.isOver && !holdsElements() }
        if isDone, over() != nil { delivery.withLock { complete(.finished) } }
    }

    private func receive(_ subscription: any Subscription, from index: Int) {
        let demand = withState { state -> Subscribers.Demand? in
            guard !state.isOver, state.subscriptions[index] == nil else { return nil }
            state.subscriptions[index] = subscription
            return initialDemand(state)
        }
        guard let demand else { return subscription.cancel() }
        if demand > .none { subscription.request(demand) }
    }

    private func receive(_ completion: Subscribers.Completion<Failure>, from index: Int) {
        switch completion {
        case .finished:
            withState { _ = $0.finished.insert(index) }
            finishIfDone()
        case .failure:
            guard let subscriptions = over(failed: index) else { return }
            for subscription in subscriptions { subscription.cancel() }
            delivery.withLock { complete(completion) }
        }
    }

    /// Ends the subscription. Returns the subscriptions to cancel; nil if it had already ended.
    private func over(failed index: Int? = nil) -> [any Subscription]? {
        withState { state in
            guard !state.isOver else { return nil }
            state.isOver = true
            defer { state.subscriptions = state.subscriptions.map { _ in nil } }
            return state.subscriptions.enumerated().compactMap { other, subscription in
                other == index || state.finished.contains(other) ? nil : subscription
            }
        }
    }
}
#endif
