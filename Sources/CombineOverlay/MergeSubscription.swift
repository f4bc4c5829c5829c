#if Combine
import OpenCombine

/// Delivers the elements of several publishers as they arrive. While the subscriber has no demand, one element of each
/// publisher is held back.
final class MergeSubscription<Output, Failure: Error>: JoinedSubscription<Output, Output, Failure> {
    private var buffers: [Output?]

    static func subscribe<Downstream: Subscriber>(
        _ downstream: Downstream, to publishers: [(Side) -> Void]
    ) where Downstream.Input == Output, Downstream.Failure == Failure {
        let joined = MergeSubscription(downstream, count: publishers.count)
        downstream.receive(subscription: joined)
        for (index, subscribe) in publishers.enumerated() { subscribe(Side(joined: joined, index: index)) }
        // If there are no publishers, finish immediately.
        joined.finishIfDone()
    }

    private override init<Downstream: Subscriber>(_ downstream: Downstream, count: Int)
    where Downstream.Input == Output, Downstream.Failure == Failure {
        buffers = Array(repeating: nil, count: count)
        super.init(downstream, count: count)
    }

    override func initialDemand(_ state: State) -> Subscribers.Demand {
        state.demand == .unlimited ? .unlimited : .max(1)
    }

    override func receive(_ input: Output, from index: Int) -> Subscribers.Demand {
        let mayDeliver = withState { state in
            guard !state.isOver else { return false }
            guard state.demand > .none else {
                buffers[index] = input
                return false
            }
            state.demand -= 1
            return true
        }
        guard mayDeliver else { return .none }
        add(delivered(input))
        return .max(1)
    }

    override func requested(_ demand: Subscribers.Demand) {
        while let (index, element) = nextHeldBack() {
            let more = delivered(element)
            withState { $0.demand += more }
            withState { $0.subscriptions[index] }?.request(.max(1))
        }
        if demand == .unlimited { requestUpstream(.unlimited) }
        finishIfDone()
    }

    override func holdsElements() -> Bool { buffers.contains { $0 != nil } }

    private func add(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        request(demand)
    }

    private func nextHeldBack() -> (Int, Output)? {
        withState { state in
            guard !state.isOver, state.demand > .none,
                let index = buffers.firstIndex(where: { $0 != nil }), let element = buffers[index]
            else { return nil }
            buffers[index] = nil
            state.demand -= 1
            return (index, element)
        }
    }
}
#endif
