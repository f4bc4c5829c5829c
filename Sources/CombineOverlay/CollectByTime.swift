#if Combine
import Foundation
import OpenCombine

extension Publishers {
    /// Determines when collected elements are published.
    public enum TimeGroupingStrategy<Context: Scheduler> {
        /// After each interval.
        case byTime(Context, Context.SchedulerTimeType.Stride)
        /// After each interval, and whenever this number of elements has been collected.
        case byTimeOrCount(Context, Context.SchedulerTimeType.Stride, Int)
    }

    /// Collects elements and publishes them as arrays. Empty arrays are not published.
    public struct CollectByTime<Upstream: OpenCombine.Publisher, Context: Scheduler>: Publisher {
        /// An array of collected elements, in the order received. Never empty.
        public typealias Output = [Upstream.Output]
        /// The error type of `upstream`.
        public typealias Failure = Upstream.Failure

        /// The publisher whose elements are collected.
        public let upstream: Upstream
        /// Determines when the collected elements are published.
        public let strategy: TimeGroupingStrategy<Context>
        /// Options for the scheduler's timer and for delivering the completion; nil for the scheduler's defaults.
        public let options: Context.SchedulerOptions?

        /// Creates a publisher that collects the elements of `upstream`. A count in `strategy` that is not positive is
        /// a programming error, which traps when a subscriber is attached.
        public init(
            upstream: Upstream, strategy: TimeGroupingStrategy<Context>, options: Context.SchedulerOptions?
        ) {
            (self.upstream, self.strategy, self.options) = (upstream, strategy, options)
        }

        /// Attaches a subscriber, and starts the timer when `upstream` accepts the subscription. Elements collected
        /// while the subscriber has no demand are dropped.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            upstream.subscribe(Inner(subscriber, strategy, options))
        }
    }
}

extension OpenCombine.Publisher {
    /// Collects elements, and publishes them as arrays according to the strategy. Remaining elements are published when
    /// this publisher finishes, and dropped if it fails.
    public func collect<Context: Scheduler>(
        _ strategy: Publishers.TimeGroupingStrategy<Context>, options: Context.SchedulerOptions? = nil
    ) -> Publishers.CollectByTime<Self, Context> {
        .init(upstream: self, strategy: strategy, options: options)
    }
}

extension Publishers.CollectByTime {
    private final class Inner<Downstream: Subscriber>: Subscriber, Subscription
    where Downstream.Input == Output, Downstream.Failure == Failure {
        private let downstream: Downstream
        private let scheduler: Context
        private let interval: Context.SchedulerTimeType.Stride
        /// Nil if only the time counts.
        private let limit: Int?
        private let options: Context.SchedulerOptions?

        private let lock = NSLock()
        private let delivery = NSRecursiveLock()
        private var subscription: (any Subscription)?
        private var timer: (any Cancellable)?
        private var elements: Output = []
        private var demand = Subscribers.Demand.none
        private var isOver = false

        init(
            _ downstream: Downstream, _ strategy: Publishers.TimeGroupingStrategy<Context>,
            _ options: Context.SchedulerOptions?
        ) {
            self.downstream = downstream
            self.options = options
            switch strategy {
            case .byTime(let scheduler, let interval):
                (self.scheduler, self.interval, limit) = (scheduler, interval, nil)
            case .byTimeOrCount(let scheduler, let interval, let count):
                precondition(count > 0, "count must be positive")
                (self.scheduler, self.interval, limit) = (scheduler, interval, count)
            }
        }

        func receive(subscription: any Subscription) {
            let isFirst = lock.withLock {
                guard self.subscription == nil, !isOver else { return false }
                self.subscription = subscription
                return true
            }
            guard isFirst else { return subscription.cancel() }
            let timer = scheduler.schedule(
                after: scheduler.now.advanced(by: interval), interval: interval,
                tolerance: scheduler.minimumTolerance, options: options
            ) { [weak self] in self?.timePassed() }
            lock.withLock { self.timer = timer }
            downstream.receive(subscription: self)
        }

        func receive(_ input: Upstream.Output) -> Subscribers.Demand {
            let full = lock.withLock { () -> Output? in
                guard !isOver else { return nil }
                elements.append(input)
                return elements.count == limit ? takeElements() : nil
            }
            guard let limit else { return .max(1) }
            guard let full else { return .none }
            return publish(full) * limit
        }

        func receive(completion: Subscribers.Completion<Failure>) {
            let rest = lock.withLock { () -> Output?? in
                guard !isOver else { return .none }
                isOver = true
                subscription = nil
                return .some(completion.isFinished ? takeElements() : nil)
            }
            guard let rest else { return }
            endTimer()
            // On the scheduler, so that it follows the arrays that the timer publishes.
            scheduler.schedule(options: options) { [self] in
                delivery.withLock {
                    if let rest { _ = downstream.receive(rest) }
                    downstream.receive(completion: completion)
                }
            }
        }

        func request(_ demand: Subscribers.Demand) {
            let subscription = lock.withLock {
                self.demand += demand
                return self.subscription
            }
            subscription?.request(limit.map { demand * $0 } ?? .max(1))
        }

        func cancel() {
            let subscription = lock.withLock { () -> (any Subscription)? in
                isOver = true
                defer { self.subscription = nil }
                return self.subscription
            }
            endTimer()
            subscription?.cancel()
        }

        private func timePassed() {
            guard let elements = lock.withLock({ isOver ? nil : takeElements() }) else { return }
            // The additional demand takes effect with the next request.
            _ = publish(elements)
        }

        /// Returns the collected elements if the subscriber has demand. Otherwise, drops them. Requires the lock.
        private func takeElements() -> Output? {
            defer { elements = [] }
            guard !elements.isEmpty, demand > .none else { return nil }
            demand -= 1
            return elements
        }

        private func publish(_ elements: Output) -> Subscribers.Demand {
            let more = delivery.withLock { downstream.receive(elements) }
            lock.withLock { demand += more }
            return more
        }

        private func endTimer() {
            lock.withLock { () -> (any Cancellable)? in
                defer { timer = nil }
                return timer
            }?.cancel()
        }
    }
}

extension Subscribers.Completion {
    fileprivate var isFinished: Bool {
        guard case .finished = self else { return false }
        return true
    }
}
#endif
