/// A weak reference that threads share.
final class WeakReference<Object: AnyObject>: Sendable {
    private struct Reference {
        weak var object: Object?
    }

    private let reference = Guarded(wrappedValue: Reference())

    init() {}

    // In place: to copy a weak reference costs more than to follow it.
    var object: Object? {
        get { reference.withLock { $0.object } }
        set { reference.wrappedValue = Reference(object: newValue) }
    }
}
