import Foundation

/// Files that only their owner may read and write (mode 0600).
///
/// SQLite gives the files that it makes beside a database the database's mode, so it is enough to set that before SQLite
/// opens it. Files from earlier runs are restricted by name: opening and closing a database here would release SQLite's
/// locks on it (fcntl(2), "Record locking").
enum PrivateFile {
    /// A file could not be made, or its mode could not be set.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let mode: mode_t = 0o600

    /// Restricts a file, after making it if it does not exist. A link that leads nowhere is not followed: anyone who can write the
    /// directory could have a file made elsewhere.
    static func make(_ path: String) throws(Failure) {
        guard try !restrict(path) else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Failure(description: reason) }
        close(descriptor)
    }

    /// Restricts a file. Returns whether there is one.
    @discardableResult
    static func restrict(_ path: String) throws(Failure) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        // A directory or a device is nothing to store messages in, and stays as it is.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o777 & ~mode != 0 else { return true }
        guard chmod(path, mode) == 0 else {
            throw Failure(description: "the mode of \(path) cannot be changed to 0600: \(reason)")
        }
        return true
    }

    /// The last error of the system.
    private static var reason: String { String(cString: strerror(errno)) }
}
