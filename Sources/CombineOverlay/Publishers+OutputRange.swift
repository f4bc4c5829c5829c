#if Combine
import Foundation
import OpenCombine

extension Publisher {
    /// Publishes the first elements, and finishes with the last of them.
    public func prefix(_ maxLength: Int) -> Publishers.OutputRange<Self> { output(in: ..<maxLength) }

    /// Publishes the element at a position, and finishes with it.
    public func output(at index: Int) -> Publishers.OutputRange<Self> { output(in: index...index) }

    /// Publishes the elements in a range of positions, and finishes with the last of them.
    public func output<Range: RangeExpression<Int>>(in range: Range) -> Publishers.OutputRange<Self> {
        .init(upstream: self, range: range.relative(to: 0..<Int.max))
    }
}

extension Publishers {
    /// Publishes the elements in a range of positions.
    ///
    /// Unlike this publisher, OpenCombine's `Publishers.Output` finishes only when another element arrives after the
    /// last one.
    public struct OutputRange<Upstream: OpenCombine.Publisher>: Publisher {
        /// The type of the elements of `upstream`.
        public typealias Output = Upstream.Output
        /// The error type of `upstream`.
        public typealias Failure = Upstream.Failure

        /// The publisher whose elements are selected.
        public let upstream: Upstream
        /// The positions of the published elements. The first element of `upstream` has position 0.
        public let range: CountableRange<Int>

        /// Creates a publisher of the elements of `upstream` at the positions in `range`. A negative lower bound is a
        /// programming error.
        public init(upstream: Upstream, range: CountableRange<Int>) {
            precondition(range.lowerBound >= 0, "lowerBound must not be negative")
            (self.upstream, self.range) = (upstream, range)
        }

        /// Attaches a subscriber, and cancels the subscription to `upstream` after the last element of the range.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            upstream.subscribe(Inner(subscriber, range))
        }

        private final class Inner<Downstream: Subscriber>: Subscriber, Subscription
        where Downstream.Input == Output, Downstream.Failure == Failure {
            private enum Phase {
                case awaiting
                case subscribed(any Subscription)
                case over
            }

            private let downstream: Downstream
            private let range: CountableRange<Int>
            private let lock = NSLock()
            private var phase = Phase.awaiting
            private var received = 0

            init(_ downstream: Downstream, _ range: CountableRange<Int>) {
                (self.downstream, self.range) = (downstream, range)
            }

            func receive(subscription: any Subscription) {
                let isFirst = lock.withLock {
                    guard case .awaiting = phase else { return false }
                    phase = .subscribed(subscription)
                    return true
                }
                isFirst ? downstream.receive(subscription: self) : subscription.cancel()
            }

            func receive(_ input: Output) -> Subscribers.Demand {
                let position = lock.withLock { () -> Int? in
                    guard case .subscribed = phase else { return nil }
                    defer { received += 1 }
                    return received
                }
                guard let position else { return .none }
                guard position >= range.lowerBound else { return .max(1) }
                let demand = position < range.upperBound ? downstream.receive(input) : .none
                guard position >= range.upperBound - 1 else { return demand }
                if let subscription = end() {
                    subscription.cancel()
                    downstream.receive(completion: .finished)
                }
                return .none
            }

            func receive(completion: Subscribers.Completion<Failure>) {
                if end() != nil { downstream.receive(completion: completion) }
            }

            func request(_ demand: Subscribers.Demand) {
                let subscription = lock.withLock { () -> (any Subscription)? in
                    guard case .subscribed(let subscription) = phase else { return nil }
                    return subscription
                }
                subscription?.request(demand)
            }

            func cancel() { end()?.cancel() }

            /// Ends the subscription and returns it; nil if it has already ended.
            private func end() -> (any Subscription)? {
                lock.withLock {
                    guard case .subscribed(let subscription) = phase else { return nil }
                    phase = .over
                    return subscription
                }
            }
        }
    }
}

extension Publishers.OutputRange: Equatable where Upstream: Equatable {}
#endif
