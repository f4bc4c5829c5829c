import CBluetoothHCI
import Glibc

/// Wakes an event loop, or calls off an opening that waits, from any thread.
///
/// It lives as long as anybody holds it, so that a late `wake` never writes to a descriptor that has a new owner.
public final class Waker: Sendable {
    let fileDescriptor: Int32

    /// Throws where the process has no file descriptor left.
    public init() throws(TransportError) {
        do throws(Errno) {
            fileDescriptor = try Errno.check { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
        } catch {
            throw TransportError(.system(call: "eventfd", code: error.code), transport: "waker")
        }
    }

    deinit { close(fileDescriptor) }

    /// Ends the present wait, or the next one where none is under way. Many calls before that count as one.
    public func wake() {
        // It can only fail because the counter is full, and then the loop is awake.
        _ = eventfd_write(fileDescriptor, 1)
    }

    /// Forgets the calls up to now.
    func reset() {
        var count: eventfd_t = 0
        _ = eventfd_read(fileDescriptor, &count)
    }
}
