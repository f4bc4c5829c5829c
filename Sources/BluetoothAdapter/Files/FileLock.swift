import BluetoothPlatform
import HCITransport

/// An exclusive lock on a directory, held against other threads and programs until it is released. The kernel releases
/// it if the program is killed.
struct FileLock {
    private let descriptor: Int32

    /// The initial and the maximum delay between attempts, in microseconds.
    private static let pause: (first: UInt32, longest: UInt32) = (100, 2_000)

    /// Acquires the lock. Creates the directory if it is missing.
    ///
    /// - Parameter patience: how long to wait while another owner holds the lock.
    /// - Throws: `.busy` after that time.
    init(directory: String, patience: Duration) throws(FileFailure) {
        try StateDirectory.make(directory)
        let path = directory + "/.lock"
        let descriptor: Int32
        do {
            descriptor = try Errno.check { open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        } catch {
            throw FileFailure("write", path, error)
        }
        // A blocking `flock` could wait forever, for example for a program that is stopped.
        let deadline = ContinuousClock.now + patience
        var pause = Self.pause.first
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let error = Errno.last
            guard error.wouldBlock || error.code == EINTR, ContinuousClock.now < deadline else {
                close(descriptor)
                throw error.wouldBlock ? .busy(path: path) : FileFailure("lock", path, error)
            }
            usleep(pause)
            pause = min(pause * 2, Self.pause.longest)
        }
        self.descriptor = descriptor
    }

    func release() { close(descriptor) }
}
