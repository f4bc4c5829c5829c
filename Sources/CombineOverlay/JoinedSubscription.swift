import Foundation
import OpenCombine

/// What one subscriber is to several publishers: their subscriptions, how much it still demands, and which of them have
/// finished. How elements are joined is its subclasses' matter.
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

    /// What is protected by the lock.
    struct State {
        var subscriptions: [(any Subscription)?]
        var demand = Subscribers.Demand.none
        var finished: Set<Int> = []
        var isOver = false
    }

    private let lock = NSLock()
    private var state: State
    // One element follows the other, and one that is sent while another is being received comes in between.
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

    /// Delivers an element, unless it has ended meanwhile. Returns what the subscriber demands in addition.
    func delivered(_ output: Output) -> Subscribers.Demand {
        delivery.withLock { withState { $0.isOver } ? .none : deliver(output) }
    }

    // MARK: What subclasses say

    /// What to request of a publisher that has just been subscribed to.
    func initialDemand(_ state: State) -> Subscribers.Demand { state.demand }

    /// An element of a publisher. Returns what is requested of that publisher in addition.
    func receive(_ input: Input, from index: Int) -> Subscribers.Demand { .none }

    /// The subscriber demands more; the state's demand has been increased.
    func requested(_ demand: Subscribers.Demand) {}

    /// Whether elements are kept back that have to be delivered before the end. Called with the lock held.
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

    /// Passes a demand on to all publishers but one.
    func requestUpstream(_ demand: Subscribers.Demand, except index: Int? = nil) {
        for (other, subscription) in withState({ $0.subscriptions }).enumerated() where other != index {
            subscription?.request(demand)
        }
    }

    /// Finishes, if all publishers have and nothing is kept back.
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

    /// Ends it. Returns the subscriptions that are to be cancelled; nil if it had ended before.
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
