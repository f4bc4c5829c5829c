import Foundation

/// C's functions under the names of Apple's headers.
final class RecursiveLock {
    private var mutex = pthread_mutex_t()
    private let queue = DispatchQueue(label: "lock")

    init() {
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE)
        pthread_mutex_init(&mutex, &attributes)
    }

    func deadline(_ date: Date) -> timespec {
        timespec(tv_sec: __darwin_time_t(date.timeIntervalSince1970), tv_nsec: 0)
    }

    var isOnQueue: Bool { String(cString: __dispatch_queue_get_label(nil)) == queue.label }
    var name: String { let text = NSMutableString(); text.append("lock"); return text as String }
}
