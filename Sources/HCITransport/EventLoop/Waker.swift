import BluetoothPlatform
import CBluetoothHCI

/// Wakes an event loop, or cancels the opening of a transport, from any thread.
///
/// Its descriptor stays open as long as it is referenced, so a late `wake` never writes to a reused descriptor.
public final class Waker: Sendable {
    let fileDescriptor: Int32

    /// Creates a waker. Throws if the process has run out of file descriptors.
    public init() throws(TransportError) {
        do throws(Errno) {
            fileDescriptor = try Errno.check { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
        } catch {
            throw TransportError(.system(call: "eventfd", code: error.code), transport: "waker")
        }
    }

    deinit { close(fileDescriptor) }

    /// Ends the current wait, or the next one if none is in progress. Multiple calls before that count as one.
    public func wake() {
        // It can only fail if the counter is full, and then the loop is awake anyway.
        _ = eventfd_write(fileDescriptor, 1)
    }

    /// Discards all calls of `wake` so far.
    func reset() {
        var count: eventfd_t = 0
        _ = eventfd_read(fileDescriptor, &count)
    }
}
