import BluetoothPlatform
import HCITransport

/// A file that is replaced atomically: if the program is killed at any point, the file has either its old or its new
/// content.
package struct DurableFile: Sendable {
    package let directory: String
    package let name: String
    /// The maximum length in octets. A longer file is not read.
    package let maximumLength: Int

    package init(directory: String, name: String, maximumLength: Int) {
        self.directory = directory
        self.name = name
        self.maximumLength = maximumLength
    }

    package var path: String { directory + "/" + name }

    /// The content of a file, and its permissions.
    package struct Content {
        package var bytes: [UInt8]
        /// The permission bits.
        package var mode: mode_t
    }

    // MARK: - Reading

    /// Reads the content; nil if the file does not exist.
    package func read() throws(FileFailure) -> Content? {
        // Nonblocking, because opening a named pipe would otherwise block.
        let descriptor: Int32
        do {
            descriptor = try Errno.check { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw FileFailure("read", path, error)
        }
        defer { close(descriptor) }
        do {
            var status = stat()
            try Errno.check { fstat(descriptor, &status) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw FileFailure.notAFile(path: path) }
            return Content(bytes: try bytes(of: descriptor), mode: status.st_mode & 0o7777)
        } catch let error as FileFailure {
            throw error
        } catch {
            throw FileFailure("read", path, error as? Errno ?? Errno(EIO))
        }
    }

    private func bytes(of descriptor: Int32) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try Errno.check {
                piece.withUnsafeMutableBytes { BluetoothPlatform.read(descriptor, $0.baseAddress, $0.count) }
            }
            if count == 0 { return bytes }
            bytes += piece.prefix(count)
            guard bytes.count <= maximumLength else { throw FileFailure.tooLong(path: path, maximum: maximumLength) }
        }
    }

    // MARK: - Writing

    /// Replaces the content. When the call returns, the content is on the disk. When it throws, the file is unchanged.
    ///
    /// The directory is created if it is missing. Two programs must not write the same file at the same time: see
    /// `FileLock`.
    package func write(_ bytes: [UInt8]) throws(FileFailure) {
        guard bytes.count <= maximumLength else { throw .tooLong(path: path, maximum: maximumLength) }
        try StateDirectory.make(directory)
        let temporary = directory + "/." + name + ".new"
        do {
            try Self.write(bytes, to: temporary)
            try Errno.check { rename(temporary, path) }
        } catch {
            unlink(temporary)
            throw FileFailure("write", path, error)
        }
        StateDirectory.synchronize(directory)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(Errno) {
        let descriptor = try Errno.check { open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        do throws(Errno) {
            // A file that a killed program left behind may have other permissions.
            try Errno.check { fchmod(descriptor, 0o600) }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = try Errno.check {
                    rest.withUnsafeBytes { BluetoothPlatform.write(descriptor, $0.baseAddress, $0.count) }
                }
                rest = rest.dropFirst(count)
            }
            try Errno.check { fsync(descriptor) }
        } catch {
            close(descriptor)
            throw error
        }
        // Some file systems report a full disk only when the file is closed.
        guard close(descriptor) == 0 else { throw .last }
    }

    // MARK: - Damage

    /// Renames the file so that it is no longer read: to `NAME.damaged`, or to the first unused name of
    /// `NAME.damaged.2` and so on.
    ///
    /// - Returns: the new path; nil if that fails.
    package func setAside() -> String? {
        for number in 1...1000 {
            let place = path + ".damaged" + (number == 1 ? "" : ".\(number)")
            var status = stat()
            if lstat(place, &status) == 0 { continue }
            guard rename(path, place) == 0 else { return nil }
            StateDirectory.synchronize(directory)
            return place
        }
        return nil
    }
}

/// Why a file could not be read or written.
package enum FileFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// A system call failed: the action, the path, and the error number.
    case system(String, path: String, errno: Int32)
    /// The path exists but is not a regular file.
    case notAFile(path: String)
    /// The file exceeds its maximum length.
    case tooLong(path: String, maximum: Int)
    /// Another program holds the lock.
    case busy(path: String)

    init(_ action: String, _ path: String, _ error: Errno) { self = .system(action, path: path, errno: error.code) }

    package var description: String {
        switch self {
        case .system(_, _, let errno): Errno(errno).text
        case .notAFile: "it is not a file"
        case .tooLong(_, let maximum): "it is longer than \(maximum) octets"
        case .busy: "another program has locked it"
        }
    }
}
