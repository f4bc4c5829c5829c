import Foundation

/// Files that only their owner may read and write (mode 0600).
///
/// SQLite creates the files beside a database with the database's mode, so it is enough to set that mode before SQLite
/// opens the database. Files from earlier runs are restricted by name: opening and closing a database here would
/// release SQLite's locks on it (fcntl(2), "Record locking").
enum PrivateFile {
    /// A file could not be created, or its mode could not be set.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let mode: mode_t = 0o600

    /// Restricts a file, and creates it if it does not exist. A dangling link is not followed: otherwise anyone with
    /// write access to the directory could have a file created elsewhere.
    static func make(_ path: String) throws(Failure) {
        guard try !restrict(path) else { return }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Failure(description: reason) }
        close(descriptor)
    }

    /// Restricts a file. Returns whether the file exists.
    @discardableResult
    static func restrict(_ path: String) throws(Failure) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        // Directories and devices cannot store messages. They are left unchanged.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o777 & ~mode != 0 else { return true }
        guard chmod(path, mode) == 0 else {
            throw Failure(description: "cannot change the mode of \(path) to 0600: \(reason)")
        }
        return true
    }

    /// The description of the last system error.
    private static var reason: String { String(cString: strerror(errno)) }
}
