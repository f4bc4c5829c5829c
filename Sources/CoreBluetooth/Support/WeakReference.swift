/// A weak reference shared by threads.
final class WeakReference<Object: AnyObject>: Sendable {
    private struct Reference {
        weak var object: Object?
    }

    private let reference = Guarded(wrappedValue: Reference())

    init() {}

    // Accessed in place: copying a weak reference costs more than loading it.
    var object: Object? {
        get { reference.withLock { $0.object } }
        set { reference.wrappedValue = Reference(object: newValue) }
    }
}
