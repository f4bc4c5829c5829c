import BluetoothPlatform
import CBluetoothHCI

/// The identity of the file behind a path or a descriptor.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let node: ino_t
    /// Whether this is a regular file with a single link, owned by this process's user.
    let isOurs: Bool

    /// Returns nil if the file does not exist. Symbolic links are not followed.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = status.st_dev
        node = status.st_ino
        isOurs = status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_nlink == 1
    }

    /// Returns the process that has locked the whole file, according to the content of `/proc/locks`. Its lines have
    /// the form `1: FLOCK ADVISORY  WRITE 1234 00:19:56 0 EOF`.
    func lockingProcess(locks: String) -> Int32? {
        for line in locks.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", let process = Int32(fields[4]), process > 0 else { continue }
            let file = fields[5].split(separator: ":")
            guard file.count == 3, UInt32(file[0], radix: 16) == gnu_dev_major(device),
                UInt32(file[1], radix: 16) == gnu_dev_minor(device), ino_t(file[2]) == node
            else { continue }
            return process
        }
        return nil
    }
}
