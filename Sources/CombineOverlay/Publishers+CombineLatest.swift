#if Combine
import OpenCombine

// Once each of several publishers has published an element, these publish the latest elements of all whenever one of
// them publishes. They finish when all have finished, and fail as soon as one of them fails.

extension Publishers {
    /// Publishes the latest elements of two publishers.
    public struct CombineLatest<A: OpenCombine.Publisher, B: OpenCombine.Publisher>: Publisher
    where B.Failure == A.Failure {
        /// A tuple of the latest element of each publisher, in order.
        public typealias Output = (A.Output, B.Output)
        /// The error type that the publishers share.
        public typealias Failure = A.Failure

        /// The publisher of the first element of each tuple.
        public let a: A
        /// The publisher of the second element of each tuple.
        public let b: B

        /// Creates a publisher of the latest elements of `a` and `b`.
        public init(_ a: A, _ b: B) { (self.a, self.b) = (a, b) }

        /// Attaches a subscriber, and subscribes to both publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            // The array has one element per publisher, in order, so the casts cannot fail.
            // swift-format-ignore: NeverForceUnwrap
            CombineLatestSubscription.subscribe(
                subscriber, to: [a.map({ $0 as Any }).subscribe, b.map({ $0 as Any }).subscribe]
            ) { ($0[0] as! A.Output, $0[1] as! B.Output) }
        }
    }

    /// Publishes the latest elements of three publishers.
    public struct CombineLatest3<A: OpenCombine.Publisher, B: OpenCombine.Publisher, C: OpenCombine.Publisher>:
        Publisher
    where B.Failure == A.Failure, C.Failure == A.Failure {
        /// A tuple of the latest element of each publisher, in order.
        public typealias Output = (A.Output, B.Output, C.Output)
        /// The error type that the publishers share.
        public typealias Failure = A.Failure

        /// The publisher of the first element of each tuple.
        public let a: A
        /// The publisher of the second element of each tuple.
        public let b: B
        /// The publisher of the third element of each tuple.
        public let c: C

        /// Creates a publisher of the latest elements of `a`, `b` and `c`.
        public init(_ a: A, _ b: B, _ c: C) { (self.a, self.b, self.c) = (a, b, c) }

        /// Attaches a subscriber, and subscribes to all three publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            // The array has one element per publisher, in order, so the casts cannot fail.
            // swift-format-ignore: NeverForceUnwrap
            CombineLatestSubscription.subscribe(
                subscriber,
                to: [a.map({ $0 as Any }).subscribe, b.map({ $0 as Any }).subscribe, c.map({ $0 as Any }).subscribe]
            ) { ($0[0] as! A.Output, $0[1] as! B.Output, $0[2] as! C.Output) }
        }
    }

    /// Publishes the latest elements of four publishers.
    public struct CombineLatest4<
        A: OpenCombine.Publisher, B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher
    >: Publisher
    where B.Failure == A.Failure, C.Failure == A.Failure, D.Failure == A.Failure {
        /// A tuple of the latest element of each publisher, in order.
        public typealias Output = (A.Output, B.Output, C.Output, D.Output)
        /// The error type that the publishers share.
        public typealias Failure = A.Failure

        /// The publisher of the first element of each tuple.
        public let a: A
        /// The publisher of the second element of each tuple.
        public let b: B
        /// The publisher of the third element of each tuple.
        public let c: C
        /// The publisher of the fourth element of each tuple.
        public let d: D

        /// Creates a publisher of the latest elements of `a`, `b`, `c` and `d`.
        public init(_ a: A, _ b: B, _ c: C, _ d: D) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }

        /// Attaches a subscriber, and subscribes to all four publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            // The array has one element per publisher, in order, so the casts cannot fail.
            // swift-format-ignore: NeverForceUnwrap
            CombineLatestSubscription.subscribe(
                subscriber,
                to: [
                    a.map({ $0 as Any }).subscribe, b.map({ $0 as Any }).subscribe, c.map({ $0 as Any }).subscribe,
                    d.map({ $0 as Any }).subscribe,
                ]
            ) { ($0[0] as! A.Output, $0[1] as! B.Output, $0[2] as! C.Output, $0[3] as! D.Output) }
        }
    }
}

extension OpenCombine.Publisher {
    /// Publishes the latest elements of this publisher and another one.
    public func combineLatest<B: OpenCombine.Publisher>(_ b: B) -> Publishers.CombineLatest<Self, B>
    where B.Failure == Failure {
        .init(self, b)
    }

    /// Publishes the transformed latest elements of this publisher and another one.
    public func combineLatest<B: OpenCombine.Publisher, Result>(
        _ b: B, _ transform: @escaping (Output, B.Output) -> Result
    ) -> Publishers.Map<Publishers.CombineLatest<Self, B>, Result> where B.Failure == Failure {
        combineLatest(b).map { transform($0.0, $0.1) }
    }

    /// Publishes the latest elements of this publisher and others.
    public func combineLatest<B: OpenCombine.Publisher, C: OpenCombine.Publisher>(_ b: B, _ c: C)
        -> Publishers.CombineLatest3<Self, B, C>
    where B.Failure == Failure, C.Failure == Failure {
        .init(self, b, c)
    }

    /// Publishes the transformed latest elements of this publisher and others.
    public func combineLatest<B: OpenCombine.Publisher, C: OpenCombine.Publisher, Result>(
        _ b: B, _ c: C, _ transform: @escaping (Output, B.Output, C.Output) -> Result
    ) -> Publishers.Map<Publishers.CombineLatest3<Self, B, C>, Result>
    where B.Failure == Failure, C.Failure == Failure {
        combineLatest(b, c).map { transform($0.0, $0.1, $0.2) }
    }

    /// Publishes the latest elements of this publisher and others.
    public func combineLatest<B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher>(
        _ b: B, _ c: C, _ d: D
    ) -> Publishers.CombineLatest4<Self, B, C, D>
    where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
        .init(self, b, c, d)
    }

    /// Publishes the transformed latest elements of this publisher and others.
    public func combineLatest<B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher, Result>(
        _ b: B, _ c: C, _ d: D, _ transform: @escaping (Output, B.Output, C.Output, D.Output) -> Result
    ) -> Publishers.Map<Publishers.CombineLatest4<Self, B, C, D>, Result>
    where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
        combineLatest(b, c, d).map { transform($0.0, $0.1, $0.2, $0.3) }
    }
}

extension Publishers.CombineLatest: Equatable where A: Equatable, B: Equatable {}
extension Publishers.CombineLatest3: Equatable where A: Equatable, B: Equatable, C: Equatable {}
extension Publishers.CombineLatest4: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable {}
#endif
