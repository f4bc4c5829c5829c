/// A weak reference that threads share.
final class WeakReference<Object: AnyObject>: @unchecked Sendable {
    private struct Reference {
        weak var object: Object?
    }

    @Guarded private var reference = Reference()

    init() {}

    var object: Object? {
        get { reference.object }
        set { reference = Reference(object: newValue) }
    }
}
