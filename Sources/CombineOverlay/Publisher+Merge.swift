#if Combine
import OpenCombine

extension OpenCombine.Publisher {
    /// Publishes the elements of this publisher and another one of the same type, as they arrive.
    public func merge(with other: Self) -> Publishers.MergeMany<Self> { .init(self, other) }

    /// Publishes the elements of this publisher and another one, as they arrive.
    public func merge<B: OpenCombine.Publisher>(with b: B) -> Publishers.Merge<Self, B>
    where B.Output == Output, B.Failure == Failure {
        .init(self, b)
    }

    /// Publishes the elements of this publisher and others, as they arrive.
    public func merge<B: OpenCombine.Publisher, C: OpenCombine.Publisher>(with b: B, _ c: C)
        -> Publishers.Merge3<Self, B, C>
    where B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure {
        .init(self, b, c)
    }

    /// Publishes the elements of this publisher and others, as they arrive.
    public func merge<B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher>(
        with b: B, _ c: C, _ d: D
    ) -> Publishers.Merge4<Self, B, C, D>
    where
        B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure, D.Output == Output,
        D.Failure == Failure
    {
        .init(self, b, c, d)
    }

    /// Publishes the elements of this publisher and others, as they arrive.
    public func merge<
        B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher, E: OpenCombine.Publisher
    >(with b: B, _ c: C, _ d: D, _ e: E) -> Publishers.Merge5<Self, B, C, D, E>
    where
        B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure, D.Output == Output,
        D.Failure == Failure, E.Output == Output, E.Failure == Failure
    {
        .init(self, b, c, d, e)
    }

    /// Publishes the elements of this publisher and others, as they arrive.
    public func merge<
        B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher, E: OpenCombine.Publisher,
        F: OpenCombine.Publisher
    >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F) -> Publishers.Merge6<Self, B, C, D, E, F>
    where
        B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure, D.Output == Output,
        D.Failure == Failure, E.Output == Output, E.Failure == Failure, F.Output == Output, F.Failure == Failure
    {
        .init(self, b, c, d, e, f)
    }

    /// Publishes the elements of this publisher and others, as they arrive.
    public func merge<
        B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher, E: OpenCombine.Publisher,
        F: OpenCombine.Publisher, G: OpenCombine.Publisher
    >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G) -> Publishers.Merge7<Self, B, C, D, E, F, G>
    where
        B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure, D.Output == Output,
        D.Failure == Failure, E.Output == Output, E.Failure == Failure, F.Output == Output, F.Failure == Failure,
        G.Output == Output, G.Failure == Failure
    {
        .init(self, b, c, d, e, f, g)
    }

    /// Publishes the elements of this publisher and others, as they arrive.
    public func merge<
        B: OpenCombine.Publisher, C: OpenCombine.Publisher, D: OpenCombine.Publisher, E: OpenCombine.Publisher,
        F: OpenCombine.Publisher, G: OpenCombine.Publisher, H: OpenCombine.Publisher
    >(with b: B, _ c: C, _ d: D, _ e: E, _ f: F, _ g: G, _ h: H) -> Publishers.Merge8<Self, B, C, D, E, F, G, H>
    where
        B.Output == Output, B.Failure == Failure, C.Output == Output, C.Failure == Failure, D.Output == Output,
        D.Failure == Failure, E.Output == Output, E.Failure == Failure, F.Output == Output, F.Failure == Failure,
        G.Output == Output, G.Failure == Failure, H.Output == Output, H.Failure == Failure
    {
        .init(self, b, c, d, e, f, g, h)
    }
}
#endif
