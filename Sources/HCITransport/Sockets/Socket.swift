import BluetoothPlatform
import CBluetoothHCI

/// A socket that will become a transport. It is closed unless it is released.
struct Socket: ~Copyable {
    let fileDescriptor: Int32

    /// Takes ownership of an open socket.
    init(owning fileDescriptor: Int32) {
        self.fileDescriptor = fileDescriptor
    }

    /// Creates a non-blocking socket that child processes do not inherit.
    init(family: Int32, type: Int32 = cbt_stream_socket, protocol number: Int32 = 0) throws(Errno) {
        fileDescriptor = try Errno.check { socket(family, type | cbt_socket_flags, number) }
    }

    deinit { _ = close(fileDescriptor) }

    /// Transfers ownership of the descriptor: the caller must close it.
    consuming func release() -> Int32 {
        let descriptor = fileDescriptor
        discard self
        return descriptor
    }

    /// Returns the descriptors of two connected sockets of the local family.
    static func pair(_ type: Int32, name: String) throws(TransportError) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, type | cbt_socket_flags, 0, &ends) == 0 else {
            throw TransportError(.system(call: "socketpair", code: errno), transport: name)
        }
        return (ends[0], ends[1])
    }

    /// Sets an integer option.
    borrowing func set(_ option: Int32, level: Int32 = SOL_SOCKET, to value: Int32) throws(Errno) {
        let descriptor = fileDescriptor
        var value = value
        try Errno.check { setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) }
    }

    /// Sets the options of a connection that carries HCI. Not every stream is TCP, so failure is not an error.
    ///
    /// Nagle's algorithm is disabled, because HCI is a dialog of small packets. An idle connection is probed, so that
    /// it ends 30 s after the other machine has vanished without closing it.
    borrowing func setStreamOptions() {
        let tcp = Int32(IPPROTO_TCP)
        try? set(TCP_NODELAY, level: tcp, to: 1)
        try? set(TCP_KEEPIDLE, level: tcp, to: 15)
        try? set(TCP_KEEPINTVL, level: tcp, to: 5)
        try? set(TCP_KEEPCNT, level: tcp, to: 3)
        try? set(SO_KEEPALIVE, to: 1)
    }

    /// Throws the error of a failed connection attempt.
    borrowing func pendingError() throws(Errno) {
        let descriptor = fileDescriptor
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        try Errno.check { getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) }
        if code != 0 { throw Errno(code) }
    }
}
