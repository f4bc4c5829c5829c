import BluetoothPlatform
import HCITransport

/// Keeps other users of a directory from changing what is in it, in this program and in others, until it is released. A program
/// that is killed lets go.
struct FileLock {
    private let descriptor: Int32

    /// How long to wait at first, and at most, before looking again, in microseconds.
    private static let pause: (first: UInt32, longest: UInt32) = (100, 2_000)

    /// Makes the directory if it is missing.
    ///
    /// - Parameter patience: how long to wait for another.
    /// - Throws: `.busy` after that.
    init(directory: String, patience: Duration) throws(FileFailure) {
        try StateDirectory.make(directory)
        let path = directory + "/.lock"
        let descriptor: Int32
        do {
            descriptor = try Errno.check { open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        } catch {
            throw FileFailure("write", path, error)
        }
        // The kernel would wait for ever, for a program that is stopped for instance.
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
