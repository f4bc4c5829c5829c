import BluetoothPlatform
import HCITransport

/// Locates the directory in which this package keeps state between runs, and creates directories.
package enum StateDirectory {
    /// systemd's `STATE_DIRECTORY`, otherwise `swift-bluetooth-le` in `XDG_STATE_HOME` or in `~/.local/state`; nil if
    /// the environment sets none of these.
    ///
    /// - Parameter environment: returns the value of an environment variable.
    package static func path(
        _ environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
    ) -> String? {
        // Relative paths are ignored (XDG Base Directory Specification).
        func absolute(_ name: String) -> String? { environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        // If systemd lists several directories, this package uses the first.
        if let path = absolute("STATE_DIRECTORY")?.split(separator: ":").first { return String(path) }
        let base = absolute("XDG_STATE_HOME") ?? absolute("HOME").map { $0 + "/.local/state" }
        return base.map { $0 + "/swift-bluetooth-le" }
    }

    /// Creates a directory that only this user can access, and any missing parent directories.
    static func make(_ path: String) throws(FileFailure) {
        // The permissions of an existing directory are not changed.
        if mkdir(path, 0o700) == 0 {
            synchronize(parent(of: path))
            return
        }
        switch errno {
        case EEXIST: return
        case ENOENT where parent(of: path) != path:
            try make(parent(of: path))
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileFailure("create", path, .last) }
            synchronize(parent(of: path))
        default: throw FileFailure("create", path, .last)
        }
    }

    /// The parent directory of a path. Repeated calls end at `/` or `.`.
    private static func parent(of path: String) -> String {
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes new directory entries survive a power failure, on file systems that support it.
    static func synchronize(_ directory: String) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// The permission bits of a directory; nil if it does not exist.
    static func mode(of directory: String) -> mode_t? {
        var status = stat()
        guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
        return status.st_mode & 0o7777
    }

    /// The sorted names in a directory; empty if it does not exist.
    static func names(in directory: String) throws(FileFailure) -> [String] {
        guard let stream = opendir(directory) else {
            if errno == ENOENT { return [] }
            throw FileFailure("read", directory, .last)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
