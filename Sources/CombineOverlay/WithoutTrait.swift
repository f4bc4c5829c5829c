// What a file with `import Combine` names first. Without the trait `Combine`, none of it is available, and the compiler
// reports how to enable it.
#if !Combine
/// Available with the package's trait `Combine`.
@available(*, unavailable, message: "enable the trait: .package(…, traits: [.defaults, \"Combine\"])")
public protocol ObservableObject {}

/// Available with the package's trait `Combine`.
@available(*, unavailable, message: "enable the trait: .package(…, traits: [.defaults, \"Combine\"])")
public protocol Publisher {}

/// Available with the package's trait `Combine`.
@available(*, unavailable, message: "enable the trait: .package(…, traits: [.defaults, \"Combine\"])")
public protocol Cancellable {}

/// Available with the package's trait `Combine`.
@available(*, unavailable, message: "enable the trait: .package(…, traits: [.defaults, \"Combine\"])")
@propertyWrapper public struct Published<Value> {
    /// The value.
    public var wrappedValue: Value
    /// Wraps a value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

/// Available with the package's trait `Combine`.
@available(*, unavailable, message: "enable the trait: .package(…, traits: [.defaults, \"Combine\"])")
public struct AnyCancellable {}

/// Available with the package's trait `Combine`.
@available(*, unavailable, message: "enable the trait: .package(…, traits: [.defaults, \"Combine\"])")
public struct AnyPublisher<Output, Failure: Error> {}

/// Available with the package's trait `Combine`.
@available(*, unavailable, message: "enable the trait: .package(…, traits: [.defaults, \"Combine\"])")
public struct PassthroughSubject<Output, Failure: Error> {}

/// Available with the package's trait `Combine`.
@available(*, unavailable, message: "enable the trait: .package(…, traits: [.defaults, \"Combine\"])")
public struct CurrentValueSubject<Output, Failure: Error> {}
#endif
