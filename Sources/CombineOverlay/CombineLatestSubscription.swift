#if Combine
import OpenCombine

/// Delivers the latest elements of several publishers whenever one of them publishes. The subscriber's demand is passed
/// to every publisher. An element beyond the demand is not delivered, but becomes the latest of its publisher.
final class CombineLatestSubscription<Output, Failure: Error>: JoinedSubscription<Any, Output, Failure> {
    private var newest: [Any?]
    private let join: ([Any]) -> Output

    static func subscribe<Downstream: Subscriber>(
        _ downstream: Downstream, to publishers: [(Side) -> Void], join: @escaping ([Any]) -> Output
    ) where Downstream.Input == Output, Downstream.Failure == Failure {
        let joined = CombineLatestSubscription(downstream, count: publishers.count, join: join)
        downstream.receive(subscription: joined)
        for (index, subscribe) in publishers.enumerated() { subscribe(Side(joined: joined, index: index)) }
    }

    private init<Downstream: Subscriber>(
        _ downstream: Downstream, count: Int, join: @escaping ([Any]) -> Output
    ) where Downstream.Input == Output, Downstream.Failure == Failure {
        newest = Array(repeating: nil, count: count)
        self.join = join
        super.init(downstream, count: count)
    }

    override func receive(_ input: Any, from index: Int) -> Subscribers.Demand {
        let elements = withState { state -> [Any]? in
            guard !state.isOver else { return nil }
            newest[index] = .some(input)
            let elements = newest.compactMap { $0 }
            guard elements.count == newest.count, state.demand > .none else { return nil }
            state.demand -= 1
            return elements
        }
        guard let elements else { return .none }
        let demand = delivered(join(elements))
        guard demand > .none,
            withState({
                $0.demand += demand; return !$0.isOver
            })
        else { return .none }
        requestUpstream(demand, except: index)
        return demand
    }

    override func requested(_ demand: Subscribers.Demand) { requestUpstream(demand) }
}
#endif
