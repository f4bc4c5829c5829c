import Foundation

/// A class whose properties can be observed by their key paths.
///
/// Foundation on Linux has no key-value observing, which applications use on Core Bluetooth's objects to see what no
/// delegate is told, such as `.connecting`. This is the part of it that Swift programs see.
public protocol KeyValueObservable: NSObject {
    /// Who observes this object.
    var _observers: KeyValueObservers { get }
}

extension KeyValueObservable {
    /// Has a closure called when a property changes, on the thread that changes it, for as long as what is returned is
    /// held. The object is not kept.
    ///
    /// - Parameters:
    ///   - options: which values the change has; `.initial` has the closure called at once, too.
    ///   - changeHandler: what is called.
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

/// The value that an observer was told last.
private final class Last<Value> {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    /// What it was and what it is; nil where that is the same.
    func replaced(by new: Value) -> (old: Value, new: Value)? {
        lock.withLock {
            // What cannot be compared is another value each time.
            if let old = value as? AnyHashable, let new = new as? AnyHashable, old == new { return nil }
            defer { value = new }
            return (value, new)
        }
    }
}

/// Who observes one object.
public final class KeyValueObservers: @unchecked Sendable {
    // Unchecked: everything is behind the lock.
    private struct Observer {
        weak var observation: NSKeyValueObservation?
    }

    private let lock = NSLock()
    private var observers: [Observer] = []

    public init() {}

    func add(_ observation: NSKeyValueObservation) {
        lock.withLock {
            observers.removeAll { $0.observation == nil }
            observers.append(Observer(observation: observation))
        }
    }

    /// Some property has changed, perhaps: those whose property it is are told. Not to be called with a lock held that a
    /// property takes.
    public func changed() {
        for observation in lock.withLock({ observers.compactMap(\.observation) }) { observation.look() }
    }
}
