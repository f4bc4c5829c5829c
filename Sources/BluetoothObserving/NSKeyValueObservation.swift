import Foundation

/// An observation of a property. It ends when it is released or invalidated.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
    // Unchecked: the lock protects the closure.
    private let lock = NSLock()
    private var closure: ((NSKeyValueObservation) -> Void)?

    init(_ closure: @escaping (NSKeyValueObservation) -> Void) {
        self.closure = closure
    }

    /// Ends the observation.
    public func invalidate() {
        let closure = lock.withLock {
            defer { self.closure = nil }
            return self.closure
        }
        // Release the closure's captures only after the lock has been released.
        withExtendedLifetime(closure) {}
    }

    /// Reads the property, and calls the closure if it has changed.
    func look() { lock.withLock { closure }?(self) }
}

/// The values that an observer receives.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// The bits of the options, with the values that Foundation assigns on other platforms.
    public let rawValue: UInt

    /// Creates options from their bits. Unknown bits have no effect.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The new value of the property.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The old value of the property.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// The current value, immediately.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
    /// Also a notification before each change. Not supported.
    public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// The kind of change. Always `setting`.
public enum NSKeyValueChange: UInt, Sendable {
    case setting = 1
    case insertion = 2
    case removal = 3
    case replacement = 4
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// The kind of change. Always `setting`.
    public let kind = NSKeyValueChange.setting
    /// The new value, if requested.
    public let newValue: Value?
    /// The old value, if requested.
    public let oldValue: Value?
    /// The indexes of the changed elements. Always nil, because collections are set as a whole.
    public var indexes: IndexSet? { nil }
    /// Whether the change has not happened yet. Always false.
    public var isPrior: Bool { false }
}
