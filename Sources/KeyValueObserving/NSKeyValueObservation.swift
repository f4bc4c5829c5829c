import Foundation

/// That a property is observed: until this is let go, or invalidated.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
    // Unchecked: the closure is behind the lock.
    private let lock = NSLock()
    private var closure: (() -> Void)?

    init(_ closure: @escaping () -> Void) {
        self.closure = closure
    }

    /// Ends the observation.
    public func invalidate() {
        let closure = lock.withLock {
            defer { self.closure = nil }
            return self.closure
        }
        // What it holds is let go when the lock is free again.
        withExtendedLifetime(closure) {}
    }

    /// Looks at the property, and tells where it is another one.
    func look() { lock.withLock { closure }?() }
}

/// What an observer wants to be told.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value that a property has now.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value that it had before.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// The value at first, at once.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
    /// To be told before a change as well; this is not done here.
    public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// How a property was changed: here it is always set.
public enum NSKeyValueChange: UInt, Sendable {
    case setting = 1
    case insertion = 2
    case removal = 3
    case replacement = 4
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// How it was changed: here it is always set.
    public let kind = NSKeyValueChange.setting
    /// What it is now, where that was asked for.
    public let newValue: Value?
    /// What it was before, where that was asked for.
    public let oldValue: Value?
    /// Of which elements: none, since collections are set as a whole.
    public var indexes: IndexSet? { nil }
    /// Whether the change is still to come: never.
    public var isPrior: Bool { false }
}
