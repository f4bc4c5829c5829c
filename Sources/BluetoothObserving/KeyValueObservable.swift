import Foundation
import Synchronization

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
        observe(keyPath, through: { _ in [] }, options: options, changeHandler: changeHandler)
    }

    /// Calls a closure whenever a property of this object, or of an object that the key path passes through, changes.
    ///
    /// On Apple's platforms, `observe` finds these objects itself. Here a key path cannot be taken apart, so `adapt`
    /// adds the argument `objects`.
    ///
    /// - Parameters:
    ///   - objects: the objects between this one and the property. It is called again after each change.
    ///   - options: the values that the change contains; with `.initial`, the closure is also called immediately.
    ///   - changeHandler: the closure to call.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, through objects: @escaping (Self) -> [(any KeyValueObservable)?],
        options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let last = Last(self[keyPath: keyPath])
        let observation = NSKeyValueObservation { [weak self] observation in
            guard let self else { return }
            for object in objects(self) { object?._observers.addOnce(observation) }
            guard let (old, new) = last.replaced(by: self[keyPath: keyPath]) else { return }
            changeHandler(
                self,
                NSKeyValueObservedChange(
                    newValue: options.contains(.new) ? new : nil, oldValue: options.contains(.old) ? old : nil))
        }
        for object in [self] + objects(self) { object?._observers.addOnce(observation) }
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
public final class KeyValueObservers: Sendable {
    private struct Observer {
        weak var observation: NSKeyValueObservation?
    }

    private let observers = Mutex<[Observer]>([])
    /// Whether an observation was ever added. Most objects have no observers but change often.
    private let isUsed = Atomic(false)

    /// Creates an empty list, as the initial value of `_observers`.
    public init() {}

    /// Adds an observation, unless it is in the list.
    func addOnce(_ observation: NSKeyValueObservation) {
        // First, so that a change from now on waits for the lock.
        isUsed.store(true, ordering: .releasing)
        observers.withLock { observers in
            observers.removeAll { $0.observation == nil }
            guard !observers.contains(where: { $0.observation === observation }) else { return }
            observers.append(Observer(observation: observation))
        }
    }

    /// Calls the observers of properties that have changed. Must not be called while holding a lock that a property's
    /// getter acquires.
    public func changed() {
        guard isUsed.load(ordering: .acquiring) else { return }
        for observation in observers.withLock({ $0.compactMap(\.observation) }) { observation.look() }
    }
}
