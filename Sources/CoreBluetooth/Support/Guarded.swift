import Synchronization

/// A property that several threads use. Each access is atomic, including one through `$property.withLock`.
///
/// An application may read its objects from any thread, while events change them on its queue.
@propertyWrapper
final class Guarded<Value>: @unchecked Sendable {
    // Unchecked: the value is used with the lock held.
    private let lock = Mutex(())
    // The lock makes each access exclusive, so none needs to be checked.
    @exclusivity(unchecked) private var value: Value

    init(wrappedValue: Value) {
        value = wrappedValue
    }

    var wrappedValue: Value {
        get { withLock { $0 } }
        set {
            // The old value is released outside the lock: its deinitializer may use this property.
            var new = newValue
            withLock { swap(&$0, &new) }
        }
    }

    var projectedValue: Guarded { self }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { _ in try body(&value) }
    }
}
