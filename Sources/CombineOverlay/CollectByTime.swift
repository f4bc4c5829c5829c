import Foundation
import OpenCombine

extension Publishers {
    /// When collected elements are published.
    public enum TimeGroupingStrategy<Context: Scheduler> {
        /// Whenever so much time has passed.
        case byTime(Context, Context.SchedulerTimeType.Stride)
        /// Whenever so much time has passed, or there are so many.
        case byTimeOrCount(Context, Context.SchedulerTimeType.Stride, Int)
    }

    /// Collects elements, and publishes them as arrays. Where there are none, nothing is published.
    public struct CollectByTime<Upstream: OpenCombine.Publisher, Context: Scheduler>: Publisher {
        public typealias Output = [Upstream.Output]
        public typealias Failure = Upstream.Failure

        public let upstream: Upstream
        public let strategy: TimeGroupingStrategy<Context>
        public let options: Context.SchedulerOptions?

        public init(
            upstream: Upstream, strategy: TimeGroupingStrategy<Context>, options: Context.SchedulerOptions?
        ) {
            (self.upstream, self.strategy, self.options) = (upstream, strategy, options)
        }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            upstream.subscribe(Inner(subscriber, strategy, options))
        }
    }
}

extension OpenCombine.Publisher {
    /// Collects elements, and publishes them as arrays when the strategy says so. What has been collected is published
    /// when this publisher finishes, and dropped if it fails.
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
        /// nil where time alone counts.
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
            // In its turn after what the timer publishes.
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
            // What is demanded here comes into effect with the next request.
            _ = publish(elements)
        }

        /// What has been collected, if the subscriber wants it. What it does not want is dropped. Called with the lock
        /// held.
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
