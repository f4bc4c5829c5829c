import BluetoothPlatform

/// A file that only this user can read.
public enum PrivateFile {
    /// Creates a file and writes its contents.
    ///
    /// - Throws: a failure with the file's name, if it already exists or cannot be written.
    public static func create(_ path: String, _ bytes: [UInt8]) throws(CommandFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .failure,
                errno == EEXIST
                    ? "\(path) already exists; remove it, or choose another file"
                    : "\(path) cannot be written: \(systemError(errno))")
        }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else {
                let reason = systemError(errno)
                unlink(path)
                throw CommandFailure(.failure, "\(path) cannot be written: \(reason)")
            }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
