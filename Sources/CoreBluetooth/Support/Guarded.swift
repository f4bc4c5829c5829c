import Synchronization

/// A property that several threads use: each access is whole, and one made through `$property.withLock` is too, however
/// much it does.
///
/// An application may look at its objects from any thread, while what happens to them is told on its queue.
@propertyWrapper
final class Guarded<Value>: @unchecked Sendable {
    // Unchecked: the value is used with the lock held.
    private let lock = Mutex(())
    // The lock keeps accesses apart, so that none needs to be checked.
    @exclusivity(unchecked) private var value: Value

    init(wrappedValue: Value) {
        value = wrappedValue
    }

    var wrappedValue: Value {
        get { withLock { $0 } }
        set {
            // What was there is let go when the lock is free again: that may end an object which looks at this property.
            var new = newValue
            withLock { swap(&$0, &new) }
        }
    }

    var projectedValue: Guarded { self }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { _ in try body(&value) }
    }
}
