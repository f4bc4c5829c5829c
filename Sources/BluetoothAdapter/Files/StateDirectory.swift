import BluetoothPlatform
import HCITransport

/// Where this package keeps what it needs in the next run, and how directories are made for that.
package enum StateDirectory {
    /// `STATE_DIRECTORY` of systemd, else `swift-bluetooth-le` in `XDG_STATE_HOME` or `~/.local/state`; nil if the
    /// environment says none of these.
    ///
    /// - Parameter environment: returns the value of a variable.
    package static func path(
        _ environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
    ) -> String? {
        // Relative paths do not count (XDG Base Directory Specification).
        func absolute(_ name: String) -> String? { environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        // If systemd names several directories, the first is ours.
        if let path = absolute("STATE_DIRECTORY")?.split(separator: ":").first { return String(path) }
        let base = absolute("XDG_STATE_HOME") ?? absolute("HOME").map { $0 + "/.local/state" }
        return base.map { $0 + "/swift-bluetooth-le" }
    }

    /// Makes a directory that only this user can use, and those above it that are missing.
    static func make(_ path: String) throws(FileFailure) {
        // What is there already is left as it is.
        if mkdir(path, 0o700) == 0 {
            synchronize(parent(of: path))
            return
        }
        switch errno {
        case EEXIST: return
        case ENOENT where parent(of: path) != path:
            try make(parent(of: path))
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileFailure("make", path, .last) }
            synchronize(parent(of: path))
        default: throw FileFailure("make", path, .last)
        }
    }

    /// The directory that a path is in. It gets shorter with each call, until it is `/` or `.`.
    private static func parent(of path: String) -> String {
        var path = path[...]
        while path.count > 1, path.last == "/" { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes new names survive a loss of power. Some file systems do not support this, and say so.
    static func synchronize(_ directory: String) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// The permission bits of a directory; nil if there is none.
    static func mode(of directory: String) -> mode_t? {
        var status = stat()
        guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
        return status.st_mode & 0o7777
    }

    /// The names in a directory, in order; none if it does not exist.
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
