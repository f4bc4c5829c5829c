#if Combine
import OpenCombine

// These publish the elements of several publishers as they arrive. They finish when all have finished, and fail as soon
// as one of them fails.

extension Publishers {
    /// Publishes the elements of two publishers, as they arrive.
    public struct Merge<A: OpenCombine.Publisher, B: OpenCombine.Publisher>: Publisher
    where B.Output == A.Output, B.Failure == A.Failure {
        /// The type of the elements, which the publishers share.
        public typealias Output = A.Output
        /// The error type that the publishers share.
        public typealias Failure = A.Failure

        /// The first of the merged publishers.
        public let a: A
        /// The second of the merged publishers.
        public let b: B

        /// Creates a publisher that merges the elements of `a` and `b`.
        public init(_ a: A, _ b: B) {
            (self.a, self.b) = (a, b)
        }

        /// Attaches a subscriber, and subscribes to both publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            MergeSubscription.subscribe(subscriber, to: [a.subscribe, b.subscribe])
        }
    }

    /// Publishes the elements of three publishers, as they arrive.
    public struct Merge3<A: OpenCombine.Publisher, B: OpenCombine.Publisher, C: OpenCombine.Publisher>: Publisher
    where B.Output == A.Output, B.Failure == A.Failure, C.Output == A.Output, C.Failure == A.Failure {
        /// The type of the elements, which the publishers share.
        public typealias Output = A.Output
        /// The error type that the publishers share.
        public typealias Failure = A.Failure

        /// The first of the merged publishers.
        public let a: A
        /// The second of the merged publishers.
        public let b: B
        /// The third of the merged publishers.
        public let c: C

        /// Creates a publisher that merges the elements of `a`, `b` and `c`.
        public init(_ a: A, _ b: B, _ c: C) {
            (self.a, self.b, self.c) = (a, b, c)
        }

        /// Attaches a subscriber, and subscribes to all three publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            MergeSubscription.subscribe(subscriber, to: [a.subscribe, b.subscribe, c.subscribe])
        }
    }

    /// Publishes the elements of four publishers, as they arrive.
    public struct Merge4<
        A: OpenCombine.Publisher, B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher
    >: Publisher
    where
        B.Output == A.Output, B.Failure == A.Failure, C.Output == A.Output, C.Failure == A.Failure,
        D.Output == A.Output, D.Failure == A.Failure
    {
        /// The type of the elements, which the publishers share.
        public typealias Output = A.Output
        /// The error type that the publishers share.
        public typealias Failure = A.Failure

        /// The first of the merged publishers.
        public let a: A
        /// The second of the merged publishers.
        public let b: B
        /// The third of the merged publishers.
        public let c: C
        /// The fourth of the merged publishers.
        public let d: D

        /// Creates a publisher that merges the elements of `a`, `b`, `c` and `d`.
        public init(_ a: A, _ b: B, _ c: C, _ d: D) {
            (self.a, self.b, self.c, self.d) = (a, b, c, d)
        }

        /// Attaches a subscriber, and subscribes to all four publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            MergeSubscription.subscribe(subscriber, to: [a.subscribe, b.subscribe, c.subscribe, d.subscribe])
        }
    }

    /// Publishes the elements of five publishers, as they arrive.
    public struct Merge5<
        A: OpenCombine.Publisher, B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher,
        E: OpenCombine.Publisher
    >: Publisher
    where
        B.Output == A.Output, B.Failure == A.Failure, C.Output == A.Output, C.Failure == A.Failure,
        D.Output == A.Output, D.Failure == A.Failure, E.Output == A.Output, E.Failure == A.Failure
    {
        /// The type of the elements, which the publishers share.
        public typealias Output = A.Output
        /// The error type that the publishers share.
        public typealias Failure = A.Failure

        /// The first of the merged publishers.
        public let a: A
        /// The second of the merged publishers.
        public let b: B
        /// The third of the merged publishers.
        public let c: C
        /// The fourth of the merged publishers.
        public let d: D
        /// The fifth of the merged publishers.
        public let e: E

        /// Creates a publisher that merges the elements of `a` through `e`.
        public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E) {
            (self.a, self.b, self.c, self.d, self.e) = (a, b, c, d, e)
        }

        /// Attaches a subscriber, and subscribes to all five publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            MergeSubscription.subscribe(
                subscriber, to: [a.subscribe, b.subscribe, c.subscribe, d.subscribe, e.subscribe])
        }
    }

    /// Publishes the elements of six publishers, as they arrive.
    public struct Merge6<
        A: OpenCombine.Publisher, B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher,
        E: OpenCombine.Publisher, F: OpenCombine.Publisher
    >: Publisher
    where
        B.Output == A.Output, B.Failure == A.Failure, C.Output == A.Output, C.Failure == A.Failure,
        D.Output == A.Output, D.Failure == A.Failure, E.Output == A.Output, E.Failure == A.Failure,
        F.Output == A.Output, F.Failure == A.Failure
    {
        /// The type of the elements, which the publishers share.
        public typealias Output = A.Output
        /// The error type that the publishers share.
        public typealias Failure = A.Failure

        /// The first of the merged publishers.
        public let a: A
        /// The second of the merged publishers.
        public let b: B
        /// The third of the merged publishers.
        public let c: C
        /// The fourth of the merged publishers.
        public let d: D
        /// The fifth of the merged publishers.
        public let e: E
        /// The sixth of the merged publishers.
        public let f: F

        /// Creates a publisher that merges the elements of `a` through `f`.
        public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F) {
            (self.a, self.b, self.c, self.d, self.e, self.f) = (a, b, c, d, e, f)
        }

        /// Attaches a subscriber, and subscribes to all six publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            MergeSubscription.subscribe(
                subscriber, to: [a.subscribe, b.subscribe, c.subscribe, d.subscribe, e.subscribe, f.subscribe])
        }
    }

    /// Publishes the elements of seven publishers, as they arrive.
    public struct Merge7<
        A: OpenCombine.Publisher, B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher,
        E: OpenCombine.Publisher, F: OpenCombine.Publisher, G: OpenCombine.Publisher
    >: Publisher
    where
        B.Output == A.Output, B.Failure == A.Failure, C.Output == A.Output, C.Failure == A.Failure,
        D.Output == A.Output, D.Failure == A.Failure, E.Output == A.Output, E.Failure == A.Failure,
        F.Output == A.Output, F.Failure == A.Failure, G.Output == A.Output, G.Failure == A.Failure
    {
        /// The type of the elements, which the publishers share.
        public typealias Output = A.Output
        /// The error type that the publishers share.
        public typealias Failure = A.Failure

        /// The first of the merged publishers.
        public let a: A
        /// The second of the merged publishers.
        public let b: B
        /// The third of the merged publishers.
        public let c: C
        /// The fourth of the merged publishers.
        public let d: D
        /// The fifth of the merged publishers.
        public let e: E
        /// The sixth of the merged publishers.
        public let f: F
        /// The seventh of the merged publishers.
        public let g: G

        /// Creates a publisher that merges the elements of `a` through `g`.
        public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G) {
            (self.a, self.b, self.c, self.d, self.e, self.f, self.g) = (a, b, c, d, e, f, g)
        }

        /// Attaches a subscriber, and subscribes to all seven publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            MergeSubscription.subscribe(
                subscriber,
                to: [a.subscribe, b.subscribe, c.subscribe, d.subscribe, e.subscribe, f.subscribe, g.subscribe])
        }
    }

    /// Publishes the elements of eight publishers, as they arrive.
    public struct Merge8<
        A: OpenCombine.Publisher, B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher,
        E: OpenCombine.Publisher, F: OpenCombine.Publisher, G: OpenCombine.Publisher, H: OpenCombine.Publisher
    >: Publisher
    where
        B.Output == A.Output, B.Failure == A.Failure, C.Output == A.Output, C.Failure == A.Failure,
        D.Output == A.Output, D.Failure == A.Failure, E.Output == A.Output, E.Failure == A.Failure,
        F.Output == A.Output, F.Failure == A.Failure, G.Output == A.Output, G.Failure == A.Failure,
        H.Output == A.Output, H.Failure == A.Failure
    {
        /// The type of the elements, which the publishers share.
        public typealias Output = A.Output
        /// The error type that the publishers share.
        public typealias Failure = A.Failure

        /// The first of the merged publishers.
        public let a: A
        /// The second of the merged publishers.
        public let b: B
        /// The third of the merged publishers.
        public let c: C
        /// The fourth of the merged publishers.
        public let d: D
        /// The fifth of the merged publishers.
        public let e: E
        /// The sixth of the merged publishers.
        public let f: F
        /// The seventh of the merged publishers.
        public let g: G
        /// The eighth of the merged publishers.
        public let h: H

        /// Creates a publisher that merges the elements of `a` through `h`.
        public init(_ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G, _ h: H) {
            (self.a, self.b, self.c, self.d, self.e, self.f, self.g, self.h) = (a, b, c, d, e, f, g, h)
        }

        /// Attaches a subscriber, and subscribes to all eight publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            MergeSubscription.subscribe(
                subscriber,
                to: [
                    a.subscribe, b.subscribe, c.subscribe, d.subscribe, e.subscribe, f.subscribe, g.subscribe,
                    h.subscribe,
                ])
        }
    }

    /// Publishes the elements of any number of publishers, as they arrive.
    public struct MergeMany<Upstream: OpenCombine.Publisher>: Publisher {
        /// The type of the elements, which the publishers share.
        public typealias Output = Upstream.Output
        /// The error type that the publishers share.
        public typealias Failure = Upstream.Failure

        /// The merged publishers. If empty, this publisher finishes immediately.
        public let publishers: [Upstream]

        /// Creates a publisher that merges the elements of the given publishers.
        public init(_ upstream: Upstream...) { publishers = upstream }

        /// Creates a publisher that merges the elements of a sequence of publishers.
        public init<Upstreams: Swift.Sequence<Upstream>>(_ upstream: Upstreams) { publishers = Array(upstream) }

        /// Attaches a subscriber, and subscribes to all publishers, in order.
        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            MergeSubscription.subscribe(subscriber, to: publishers.map { publisher in { publisher.subscribe($0) } })
        }

        /// Returns a publisher that also publishes the elements of `other`.
        public func merge(with other: Upstream) -> MergeMany { .init(publishers + [other]) }
    }
}

extension Publishers.Merge: Equatable where A: Equatable, B: Equatable {}
extension Publishers.Merge3: Equatable where A: Equatable, B: Equatable, C: Equatable {}
extension Publishers.Merge4: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable {}
extension Publishers.Merge5: Equatable where A: Equatable, B: Equatable, C: Equatable, D: Equatable, E: Equatable {}
extension Publishers.Merge6: Equatable
where A: Equatable, B: Equatable, C: Equatable, D: Equatable, E: Equatable, F: Equatable {}
extension Publishers.Merge7: Equatable
where A: Equatable, B: Equatable, C: Equatable, D: Equatable, E: Equatable, F: Equatable, G: Equatable {}
extension Publishers.Merge8: Equatable
where A: Equatable, B: Equatable, C: Equatable, D: Equatable, E: Equatable, F: Equatable, G: Equatable, H: Equatable {}
extension Publishers.MergeMany: Equatable where Upstream: Equatable {}
#endif
