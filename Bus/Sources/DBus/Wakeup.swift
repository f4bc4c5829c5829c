import CSystemd
import Glibc

/// Wakes an event loop from other threads.
package final class Wakeup: Sendable {
    /// The descriptor that is readable after `signal`.
    package let descriptor: Int32

    package init() throws(BusFailure) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard descriptor >= 0 else { throw .system("create an event descriptor", errno: errno) }
    }

    deinit { close(descriptor) }

    /// Wakes the loop. Several signals before the loop clears them count as one.
    package func signal() {
        var one: UInt64 = 1
        // The counter cannot overflow, because `clear` resets it.
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }

    /// Clears the signal.
    package func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
    }
}
