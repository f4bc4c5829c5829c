import BluetoothPlatform
import CBluetoothHCI

/// A device file that will become a transport. It is closed unless it is released.
struct DeviceFile: ~Copyable {
    let fileDescriptor: Int32

    /// Opens a device for non-blocking reading and writing.
    init(_ path: String) throws(Errno) {
        fileDescriptor = try Errno.check { BluetoothPlatform.open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    }

    deinit { _ = close(fileDescriptor) }

    /// Transfers ownership of the descriptor: the caller must close it.
    consuming func release() -> Int32 {
        let descriptor = fileDescriptor
        discard self
        return descriptor
    }
}
