import BluetoothPlatform
import HCITransport

/// A file that is replaced as a whole: a program that is killed at any instant leaves what was there before or what is
/// there after, and nothing between.
package struct DurableFile: Sendable {
    package let directory: String
    package let name: String
    /// The most octets it may have. A longer one is not read.
    package let maximumLength: Int

    package init(directory: String, name: String, maximumLength: Int) {
        self.directory = directory
        self.name = name
        self.maximumLength = maximumLength
    }

    package var path: String { directory + "/" + name }

    /// What is in a file, and who may do what with it.
    package struct Content {
        package var bytes: [UInt8]
        /// The permission bits.
        package var mode: mode_t
    }

    // MARK: - Reading

    /// The content; nil if there is no file.
    package func read() throws(FileFailure) -> Content? {
        // A pipe of this name must not hold anybody up.
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

    /// Replaces the content. When it returns, that is on the disk; when it throws, the file is what it was.
    ///
    /// The directory is made if it is missing. No two programs may write the same file at the same time: see `FileLock`.
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
            // One that a killed program has left may have other permissions.
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
        // Some file systems report only now that the disk is full.
        guard close(descriptor) == 0 else { throw .last }
    }

    // MARK: - Damage

    /// Gives the file a name under which nothing reads it: `NAME.damaged`, or the first of `NAME.damaged.2` and so on that
    /// is free.
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
    /// The operating system refuses: what it was asked to do, where, and its error.
    case system(String, path: String, errno: Int32)
    /// Something of that name is there, but no file.
    case notAFile(path: String)
    /// The file has more octets than it may have.
    case tooLong(path: String, maximum: Int)
    /// Another program holds the lock.
    case busy(path: String)

    init(_ action: String, _ path: String, _ error: Errno) { self = .system(action, path: path, errno: error.code) }

    package var description: String {
        switch self {
        case .system(_, _, let errno): Errno(errno).text
        case .notAFile: "it is no file"
        case .tooLong(_, let maximum): "it is longer than \(maximum) octets"
        case .busy: "another program holds it"
        }
    }
}
