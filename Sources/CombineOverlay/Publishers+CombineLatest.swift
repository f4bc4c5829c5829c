import OpenCombine

// The newest elements of several publishers, whenever one publishes another one and each has published one. Each finishes
// when all have finished, or fails with the first.

extension Publishers {
    /// The newest elements of two publishers.
    public struct CombineLatest<A: OpenCombine.Publisher, B: OpenCombine.Publisher>: Publisher
    where B.Failure == A.Failure {
        public typealias Output = (A.Output, B.Output)
        public typealias Failure = A.Failure

        public let a: A
        public let b: B

        public init(_ a: A, _ b: B) { (self.a, self.b) = (a, b) }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            // Each place of the array is written by its own publisher.
            // swift-format-ignore: NeverForceUnwrap
            CombineLatestSubscription.subscribe(
                subscriber, to: [a.map({ $0 as Any }).subscribe, b.map({ $0 as Any }).subscribe]
            ) { ($0[0] as! A.Output, $0[1] as! B.Output) }
        }
    }

    /// The newest elements of three publishers.
    public struct CombineLatest3<A: OpenCombine.Publisher, B: OpenCombine.Publisher, C: OpenCombine.Publisher>:
        Publisher
    where B.Failure == A.Failure, C.Failure == A.Failure {
        public typealias Output = (A.Output, B.Output, C.Output)
        public typealias Failure = A.Failure

        public let a: A
        public let b: B
        public let c: C

        public init(_ a: A, _ b: B, _ c: C) { (self.a, self.b, self.c) = (a, b, c) }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            // Each place of the array is written by its own publisher.
            // swift-format-ignore: NeverForceUnwrap
            CombineLatestSubscription.subscribe(
                subscriber,
                to: [a.map({ $0 as Any }).subscribe, b.map({ $0 as Any }).subscribe, c.map({ $0 as Any }).subscribe]
            ) { ($0[0] as! A.Output, $0[1] as! B.Output, $0[2] as! C.Output) }
        }
    }

    /// The newest elements of four publishers.
    public struct CombineLatest4<
        A: OpenCombine.Publisher, B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher
    >: Publisher
    where B.Failure == A.Failure, C.Failure == A.Failure, D.Failure == A.Failure {
        public typealias Output = (A.Output, B.Output, C.Output, D.Output)
        public typealias Failure = A.Failure

        public let a: A
        public let b: B
        public let c: C
        public let d: D

        public init(_ a: A, _ b: B, _ c: C, _ d: D) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            // Each place of the array is written by its own publisher.
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
    /// The newest elements of this publisher and another.
    public func combineLatest<B: OpenCombine.Publisher>(_ b: B) -> Publishers.CombineLatest<Self, B>
    where B.Failure == Failure {
        .init(self, b)
    }

    /// A transform of the newest elements of this publisher and another.
    public func combineLatest<B: OpenCombine.Publisher, Result>(
        _ b: B, _ transform: @escaping (Output, B.Output) -> Result
    ) -> Publishers.Map<Publishers.CombineLatest<Self, B>, Result> where B.Failure == Failure {
        combineLatest(b).map { transform($0.0, $0.1) }
    }

    /// The newest elements of this publisher and others.
    public func combineLatest<B: OpenCombine.Publisher, C: OpenCombine.Publisher>(_ b: B, _ c: C)
        -> Publishers.CombineLatest3<Self, B, C>
    where B.Failure == Failure, C.Failure == Failure {
        .init(self, b, c)
    }

    /// A transform of the newest elements of this publisher and others.
    public func combineLatest<B: OpenCombine.Publisher, C: OpenCombine.Publisher, Result>(
        _ b: B, _ c: C, _ transform: @escaping (Output, B.Output, C.Output) -> Result
    ) -> Publishers.Map<Publishers.CombineLatest3<Self, B, C>, Result>
    where B.Failure == Failure, C.Failure == Failure {
        combineLatest(b, c).map { transform($0.0, $0.1, $0.2) }
    }

    /// The newest elements of this publisher and others.
    public func combineLatest<B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher>(
        _ b: B, _ c: C, _ d: D
    ) -> Publishers.CombineLatest4<Self, B, C, D>
    where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
        .init(self, b, c, d)
    }

    /// A transform of the newest elements of this publisher and others.
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
