import BluetoothPlatform
import CBluetoothHCI

/// A record that a program using this package has taken an adapter, and whether the adapter was up before.
///
/// It is a file, locked for as long as the program has the adapter. The kernel unlocks it however the program ends, so
/// a file that is not locked was left by a program that crashed: the next program to take the adapter restores it.
/// Records are optional; an adapter can be taken without one.
struct AdapterRecord: Sendable {
    /// Another program using this package holds the adapter.
    struct Locked: Error {}

    private let descriptor: Int32
    private let path: String
    /// Whether a program that crashed had found the adapter up, and left it down.
    let wasLeftDown: Bool

    /// Where records are kept: a directory shared by all users that is empty after a restart of the machine, or one of
    /// the user's own if only root may write to the first.
    static var directories: [String] {
        var directories = ["/run/lock"]
        if let own = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), own.hasPrefix("/") {
            directories.append(own)
        }
        return directories
    }

    /// The file for an adapter: named after its address if it has one, since its number may change.
    static func path(for adapter: AdapterInformation, in directory: String) -> String {
        let key = adapter.address.map { $0.octets.filter { $0 != ":" } } ?? adapter.name
        return "\(directory)/swift-bluetooth-le.\(key)"
    }

    /// Creates the record in the first directory where that is possible; nil if there is none.
    static func make(for adapter: AdapterInformation, in directories: [String]) throws(Locked) -> AdapterRecord? {
        for directory in directories {
            if let record = try AdapterRecord(path: path(for: adapter, in: directory)) { return record }
        }
        return nil
    }

    private init?(path: String) throws(Locked) {
        // A file is only removed while locked. If it was removed after we opened it, try again.
        for _ in 0..<8 {
            // Others may write to the directory as well: links are not followed, and files of other users are not used.
            let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
            let descriptor = open(path, flags, 0o600)
            guard descriptor >= 0 else { return nil }
            guard let file = FileIdentity(descriptor), file.isOurs else {
                close(descriptor)
                return nil
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                throw Locked()
            }
            if FileIdentity(path) == file {
                self.descriptor = descriptor
                self.path = path
                wasLeftDown = Self.text(descriptor) == Self.up
                return
            }
            close(descriptor)
        }
        return nil
    }

    private static let up: [UInt8] = Array("up\n".utf8)
    private static let down: [UInt8] = Array("down\n".utf8)

    private static func text(_ descriptor: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }

    /// Records the state in which the adapter was found.
    func write(wasUp: Bool) {
        let text = wasUp ? Self.up : Self.down
        // First the text, then the length, so that "up" is never lost.
        guard pwrite(descriptor, text, text.count, 0) == text.count else { return }
        ftruncate(descriptor, off_t(text.count))
    }

    /// The adapter was given back: removes the note.
    func remove() {
        unlink(path)
        close(descriptor)
    }

    /// The adapter was not taken after all: leaves the record as a crashed program has left it, if any.
    func leave() {
        wasLeftDown ? keep() : remove()
    }

    /// The adapter could not be restored: leaves that to the next program.
    func keep() {
        close(descriptor)
    }

    /// The process that holds an adapter, if it has created a record. Needs no privilege.
    static func holder(of adapter: AdapterInformation, in directories: [String]) -> AdapterHolder? {
        for directory in directories {
            guard let file = FileIdentity(path(for: adapter, in: directory)),
                let process = file.lockingProcess(locks: SystemFiles.text(of: "/proc/locks", limit: 1 << 20) ?? "")
            else { continue }
            return AdapterHolder(running: process)
        }
        return nil
    }
}
