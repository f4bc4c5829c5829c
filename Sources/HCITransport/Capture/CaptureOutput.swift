import BluetoothPlatform
import CBluetoothHCI

/// A file or a pipe to which each record is written completely or not at all.
final class CaptureOutput {
    private let descriptor: Int32
    private let isRegular: Bool
    private let writeBytes: (Int32, UnsafeRawBufferPointer) -> Int
    private var length: off_t = 0

    /// Creates the file. `write` is the system call; tests replace it to simulate a full disk.
    init(
        path: String,
        write: @escaping (Int32, UnsafeRawBufferPointer) -> Int = {
            BluetoothPlatform.write($0, $1.baseAddress, $1.count)
        }
    ) throws(Errno) {
        writeBytes = write
        let descriptor = try Errno.check { open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o600) }
        var status = stat()
        isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        // A slow reader must not stop the traffic.
        if !isRegular { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Writes a record. If only part of it could be written, that part is removed again.
    func write(_ record: Span<UInt8>) throws(Errno) {
        let count = try record.withUnsafeBytes { bytes throws(Errno) in
            try Errno.check { isRegular ? writeBytes(descriptor, bytes) : writeToPipe(bytes) }
        }
        guard count == record.count else {
            if isRegular { _ = ftruncate(descriptor, length) }
            throw Errno(isRegular ? ENOSPC : EAGAIN)
        }
        length += off_t(count)
    }

    /// Writes to a pipe without being killed by SIGPIPE if it has no reader. The signal is blocked in this thread, and
    /// consumed if the write raised it.
    private func writeToPipe(_ bytes: UnsafeRawBufferPointer) -> Int {
        var pipe = sigset_t(), previous = sigset_t(), pending = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        sigpending(&pending)
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &pipe, &previous)
        let count = writeBytes(descriptor, bytes)
        let code = errno
        if count < 0, code == EPIPE, !wasPending {
            var now = timespec()
            sigtimedwait(&pipe, nil, &now)
        }
        pthread_sigmask(SIG_SETMASK, &previous, nil)
        errno = code
        return count
    }
}
