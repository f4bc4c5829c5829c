import BluetoothPlatform
import CBluetoothHCI

/// The file of a local server's socket.
struct SocketFile {
    let path: String
    private let device: dev_t
    private let node: ino_t

    /// Identifies the socket file at `path`. Returns nil if no socket exists there.
    init?(_ path: String) {
        guard let status = Self.status(path), Self.isSocket(status) else { return nil }
        self.path = path
        device = status.st_dev
        node = status.st_ino
    }

    /// Removes the file, unless it has been replaced by another one.
    func remove() {
        guard let status = Self.status(path), status.st_dev == device, status.st_ino == node else { return }
        unlink(path)
    }

    /// Removes a stale socket that no process listens on, such as one left behind by a crashed server.
    ///
    /// Throws `.addressInUse` if a server answers, and `.pathTaken` if the file is not a socket.
    static func removeStale(_ path: String) throws(TransportError.Reason) {
        guard let status = status(path) else { return }
        guard isSocket(status) else { throw .pathTaken }
        do throws(Errno) {
            // The probe has another type, so the kernel rejects it (EPROTOTYPE) instead of passing it to a running
            // server.
            let probe = try Socket(family: AF_UNIX, type: cbt_datagram_socket)
            let descriptor = probe.fileDescriptor
            try Errno.check { SocketAddress(path: path).withPointer { connect(descriptor, $0, $1) } }
        } catch {
            guard error.code == ECONNREFUSED else { throw .addressInUse }
            unlink(path)
            return
        }
        throw .addressInUse
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    private static func isSocket(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFSOCK }
}
