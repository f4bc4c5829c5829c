import Foundation

/// A class whose properties can be observed through key paths.
///
/// Foundation on Linux has no key-value observing. Applications use it on Core Bluetooth's objects to see changes that
/// no delegate method reports, such as `.connecting`. This protocol provides the part that Swift programs use.
public protocol KeyValueObservable: NSObject {
    /// The observers of this object.
    var _observers: KeyValueObservers { get }
}

extension KeyValueObservable {
    /// Calls a closure whenever a property changes, on the thread that changes it, for as long as the returned
    /// observation is retained. The object is not retained.
    ///
    /// - Parameters:
    ///   - options: the values that the change contains; with `.initial`, the closure is also called immediately.
    ///   - changeHandler: the closure to call.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let last = Last(self[keyPath: keyPath])
        let observation = NSKeyValueObservation { [weak self] in
            guard let self, let (old, new) = last.replaced(by: self[keyPath: keyPath]) else { return }
            changeHandler(
                self,
                NSKeyValueObservedChange(
                    newValue: options.contains(.new) ? new : nil, oldValue: options.contains(.old) ? old : nil))
        }
        _observers.add(observation)
        if options.contains(.initial) {
            let value = options.contains(.new) ? self[keyPath: keyPath] : nil
            changeHandler(self, NSKeyValueObservedChange(newValue: value, oldValue: nil))
        }
        return observation
    }
}

/// The value last passed to an observer.
private final class Last<Value> {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    /// The old and the new value; nil if they are equal.
    func replaced(by new: Value) -> (old: Value, new: Value)? {
        lock.withLock {
            // Values that cannot be compared count as different.
            if let old = value as? AnyHashable, let new = new as? AnyHashable, old == new { return nil }
            defer { value = new }
            return (value, new)
        }
    }
}

/// The observers of one object.
public final class KeyValueObservers: @unchecked Sendable {
    // Unchecked: the lock protects everything.
    private struct Observer {
        weak var observation: NSKeyValueObservation?
    }

    private let lock = NSLock()
    private var observers: [Observer] = []

    /// Creates an empty list, as the initial value of `_observers`.
    public init() {}

    func add(_ observation: NSKeyValueObservation) {
        lock.withLock {
            observers.removeAll { $0.observation == nil }
            observers.append(Observer(observation: observation))
        }
    }

    /// Calls the observers of properties that have changed. Must not be called while holding a lock that a property's
    /// getter acquires.
    public func changed() {
        for observation in lock.withLock({ observers.compactMap(\.observation) }) { observation.look() }
    }
}
