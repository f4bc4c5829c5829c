import CBluetoothHCI
import Glibc

/// A device file on its way to becoming a transport: closed unless somebody releases it.
struct DeviceFile: ~Copyable {
    let fileDescriptor: Int32

    /// Opens a device for reading and writing, neither of which will wait.
    init(_ path: String) throws(Errno) {
        fileDescriptor = try Errno.check { Glibc.open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    }

    deinit { _ = close(fileDescriptor) }

    /// Gives the descriptor away; who gets it closes it.
    consuming func release() -> Int32 {
        let descriptor = fileDescriptor
        discard self
        return descriptor
    }
}
