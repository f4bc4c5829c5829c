import CBluetoothHCI
import Glibc

/// The note that a program of this package has taken an adapter, and whether the adapter was up before.
///
/// It is a file, locked for as long as the program has the adapter. The kernel unlocks it however the program ends, so
/// a file that is there and not locked was left by one that crashed: whoever takes the adapter next brings it up again
/// in its place. Notes are a service; an adapter can be taken without.
struct AdapterRecord: Sendable {
    /// Another program of this package has the adapter.
    struct Locked: Error {}

    private let descriptor: Int32
    private let path: String
    /// Whether a program that crashed has found the adapter up, and left it down.
    let wasLeftDown: Bool

    /// Where notes are kept: a directory that is the same for all users, and is empty after a restart of the machine;
    /// or one of the user's own, where the first is for the administrator only.
    static var directories: [String] {
        var directories = ["/run/lock"]
        if let own = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }), own.hasPrefix("/") {
            directories.append(own)
        }
        return directories
    }

    /// The file that stands for an adapter: under its address, where it has one, since its number may change.
    static func path(for adapter: AdapterInformation, in directory: String) -> String {
        let key = adapter.address.map { $0.octets.filter { $0 != ":" } } ?? adapter.name
        return "\(directory)/swift-bluetooth-le.\(key)"
    }

    /// Makes the note, in the first of the directories where that is possible; nil where it is in none.
    static func make(for adapter: AdapterInformation, in directories: [String]) throws(Locked) -> AdapterRecord? {
        for directory in directories {
            if let record = try AdapterRecord(path: path(for: adapter, in: directory)) { return record }
        }
        return nil
    }

    private init?(path: String) throws(Locked) {
        // Whoever removes a file has it locked. One that was removed after we opened it is of no use: try again.
        for _ in 0..<8 {
            // Others may write in the directory too: no link is followed, and nobody else's file is used.
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

    /// Notes how the adapter was found.
    func write(wasUp: Bool) {
        let text = wasUp ? Self.up : Self.down
        // First the text, then the length: there is no moment in which "up" could be lost.
        guard pwrite(descriptor, text, text.count, 0) == text.count else { return }
        ftruncate(descriptor, off_t(text.count))
    }

    /// The adapter was given back: removes the note.
    func remove() {
        unlink(path)
        close(descriptor)
    }

    /// The adapter was not taken after all: leaves the note as a program that crashed has left it, if one has.
    func leave() {
        wasLeftDown ? keep() : remove()
    }

    /// The adapter could not be given back: leaves that to the next program.
    func keep() {
        close(descriptor)
    }

    /// The process that has an adapter, where it has made a note. Any user may ask.
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
