import OpenCombineShim

// The operators of Combine for several publishers that OpenCombine lacks.

extension Publishers {
    /// The elements of several publishers, as they arrive. It finishes when all have finished, or with the first
    /// failure.
    public struct MergeMany<Upstream: Publisher>: Publisher {
        public typealias Output = Upstream.Output
        public typealias Failure = Upstream.Failure

        public let publishers: [Upstream]

        public init(_ upstream: Upstream...) { publishers = upstream }

        public init<Upstreams: Swift.Sequence>(_ upstream: Upstreams) where Upstreams.Element == Upstream {
            publishers = Array(upstream)
        }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            publishers.publisher.setFailureType(to: Failure.self).flatMap { $0 }.receive(subscriber: subscriber)
        }
    }

    /// The latest elements of two publishers, whenever either publishes another one, once both have published.
    public struct CombineLatest<A: Publisher, B: Publisher>: Publisher where A.Failure == B.Failure {
        public typealias Output = (A.Output, B.Output)
        public typealias Failure = A.Failure

        public let a: A
        public let b: B

        public init(_ a: A, _ b: B) { (self.a, self.b) = (a, b) }

        private enum Element {
            case a(A.Output)
            case b(B.Output)
        }

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            a.map { Element.a($0) }.merge(with: b.map { Element.b($0) })
                .scan((A.Output?.none, B.Output?.none)) { newest, element in
                    switch element {
                    case .a(let value): (value, newest.1)
                    case .b(let value): (newest.0, value)
                    }
                }
                .compactMap { newest in newest.0.flatMap { a in newest.1.map { (a, $0) } } }
                .receive(subscriber: subscriber)
        }
    }
}

extension Publisher {
    /// The elements of this publisher and another, as they arrive.
    public func merge<Other: Publisher>(with other: Other) -> Publishers.MergeMany<AnyPublisher<Output, Failure>>
    where Other.Output == Output, Other.Failure == Failure {
        .init(eraseToAnyPublisher(), other.eraseToAnyPublisher())
    }

    /// The elements of this publisher and two others, as they arrive.
    public func merge<B: Publisher, C: Publisher>(
        with b: B, _ c: C
    ) -> Publishers.MergeMany<AnyPublisher<Output, Failure>>
    where B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure {
        .init(eraseToAnyPublisher(), b.eraseToAnyPublisher(), c.eraseToAnyPublisher())
    }

    /// The latest elements of this publisher and another.
    public func combineLatest<Other: Publisher>(_ other: Other) -> Publishers.CombineLatest<Self, Other>
    where Other.Failure == Failure {
        .init(self, other)
    }

    /// A transform of the latest elements of this publisher and another.
    public func combineLatest<Other: Publisher, Result>(
        _ other: Other, _ transform: @escaping (Output, Other.Output) -> Result
    ) -> AnyPublisher<Result, Failure> where Other.Failure == Failure {
        combineLatest(other).map { transform($0.0, $0.1) }.eraseToAnyPublisher()
    }

    /// The latest elements of this publisher and two others.
    public func combineLatest<B: Publisher, C: Publisher>(
        _ b: B, _ c: C
    ) -> AnyPublisher<(Output, B.Output, C.Output), Failure> where B.Failure == Failure, C.Failure == Failure {
        combineLatest(b).combineLatest(c) { ($0.0, $0.1, $1) }
    }

    /// A transform of the latest elements of this publisher and two others.
    public func combineLatest<B: Publisher, C: Publisher, Result>(
        _ b: B, _ c: C, _ transform: @escaping (Output, B.Output, C.Output) -> Result
    ) -> AnyPublisher<Result, Failure> where B.Failure == Failure, C.Failure == Failure {
        combineLatest(b, c).map { transform($0.0, $0.1, $0.2) }.eraseToAnyPublisher()
    }

    /// The latest elements of this publisher and three others.
    public func combineLatest<B: Publisher, C: Publisher, D: Publisher>(
        _ b: B, _ c: C, _ d: D
    ) -> AnyPublisher<(Output, B.Output, C.Output, D.Output), Failure>
    where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
        combineLatest(b, c).combineLatest(d) { ($0.0, $0.1, $0.2, $1) }
    }

    /// A transform of the latest elements of this publisher and three others.
    public func combineLatest<B: Publisher, C: Publisher, D: Publisher, Result>(
        _ b: B, _ c: C, _ d: D, _ transform: @escaping (Output, B.Output, C.Output, D.Output) -> Result
    ) -> AnyPublisher<Result, Failure> where B.Failure == Failure, C.Failure == Failure, D.Failure == Failure {
        combineLatest(b, c, d).map { transform($0.0, $0.1, $0.2, $0.3) }.eraseToAnyPublisher()
    }
}
