import Dispatch

/// A queue of a simulated world. It runs blocks one at a time, in order, and never inside `enqueue`.
package protocol VirtualQueue: AnyObject, Sendable {
    func enqueue(_ block: @escaping @Sendable () -> Void)
}

/// A queue that runs blocks of managers: the application's queue, or that of the adapter they share.
///
/// With a virtual queue, this module hands no work to another thread, reads no real clock and does not wait, so
/// everything happens on the world's thread. `Holdback` and the files of `StateKeeper` are used with queues of Dispatch
/// alone. The streams of L2CAP channels are an exception: they wait, and use run loops.
enum CallbackQueue: Sendable {
    case dispatch(DispatchQueue)
    case virtual(any VirtualQueue)

    func async(_ block: @escaping @Sendable () -> Void) {
        switch self {
        case .dispatch(let queue): queue.async(execute: block)
        case .virtual(let queue): queue.enqueue(block)
        }
    }
}
