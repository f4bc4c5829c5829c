import Foundation

/// A property that several threads use: each access is whole, and one made through `$property.withLock` is too, however
/// much it does.
///
/// An application may look at its objects from any thread, while what happens to them is told on its queue.
@propertyWrapper
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(wrappedValue: Value) {
        value = wrappedValue
    }

    var wrappedValue: Value {
        get { lock.withLock { value } }
        set {
            // What was there is let go when the lock is free again: that may end an object which looks at this property.
            let old = lock.withLock {
                let old = value
                value = newValue
                return old
            }
            withExtendedLifetime(old) {}
        }
    }

    var projectedValue: Guarded { self }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&value) }
    }
}
