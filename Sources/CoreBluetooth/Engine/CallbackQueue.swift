import Dispatch

/// A queue of a simulated world: runs blocks one at a time, in their order, and never inside `enqueue`.
package protocol VirtualQueue: AnyObject, Sendable {
    func enqueue(_ block: @escaping @Sendable () -> Void)
}

/// Where blocks of managers run: the application's, and those of the adapter they share.
///
/// Nothing else in this module hands work to another thread, reads a clock or waits, but for `Holdback`, which only
/// queues of Dispatch need, and the files of `StateKeeper`. So on a virtual queue everything happens on its world's thread.
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
