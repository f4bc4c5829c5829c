import BluetoothPlatform
import CBluetoothHCI

/// A record that a program using this package has taken an adapter, and whether the adapter was up before.
///
/// The record is a file that stays locked while the program holds the adapter. The kernel unlocks it however the
/// program ends, so an unlocked file was left behind by a crashed program. The next program that takes the adapter then
/// restores the adapter's original state. Records are optional: an adapter can be taken without one.
struct AdapterRecord: Sendable {
    /// Another program using this package holds the adapter.
    struct Locked: Error {}

    private let descriptor: Int32
    private let path: String
    /// Whether a crashed program found the adapter up and left it down.
    let wasLeftDown: Bool

    /// The directories for records, in order of preference. The first is shared by all users and is empty after a
    /// reboot. If only root may write to it, the user's own runtime directory is used.
    static var directories: [String] {
        var directories = ["/run/lock"]
        if let own = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), own.hasPrefix("/") {
            directories.append(own)
        }
        return directories
    }

    /// The path of an adapter's file. It is named after the adapter's address, if it has one, since the number may
    /// change.
    static func path(for adapter: AdapterInformation, in directory: String) -> String {
        let key = adapter.address.map { $0.octets.filter { $0 != ":" } } ?? adapter.name
        return "\(directory)/swift-bluetooth-le.\(key)"
    }

    /// Creates the record in the first directory that permits it. Returns nil if none does.
    static func make(for adapter: AdapterInformation, in directories: [String]) throws(Locked) -> AdapterRecord? {
        for directory in directories {
            if let record = try AdapterRecord(path: path(for: adapter, in: directory)) { return record }
        }
        return nil
    }

    private init?(path: String) throws(Locked) {
        // Files are only removed while locked. If this one was removed after we opened it, try again.
        for _ in 0..<8 {
            // Other users may also write to the directory, so links are not followed and files of other users are not
            // used.
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

    /// Removes the record, because the adapter was returned.
    func remove() {
        unlink(path)
        close(descriptor)
    }

    /// Leaves the record as a crashed program left it, or removes it, because the adapter was not taken after all.
    func leave() {
        wasLeftDown ? keep() : remove()
    }

    /// Keeps the record for the next program, because the adapter could not be restored.
    func keep() {
        close(descriptor)
    }

    /// Returns the process that holds an adapter, if it has created a record. Requires no privileges.
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
