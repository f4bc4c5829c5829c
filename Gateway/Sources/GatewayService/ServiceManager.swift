import Foundation

/// The service manager that has started this process, if there is one. It uses systemd's protocol of datagrams
/// (sd_notify(3)).
struct ServiceManager: Sendable {
    private let path: String?

    init(path: String? = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"]) {
        self.path = path.flatMap { $0.isEmpty || $0.utf8.count > 107 ? nil : $0 }
    }

    /// Sends a notification to the manager, such as `READY=1`. Without a manager, this does nothing.
    func tell(_ state: String) {
        guard let path else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A name that begins with @ belongs to the abstract namespace, without a file.
        let name = path.hasPrefix("@") ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let message = Array(state.utf8)
        _ = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }
}
