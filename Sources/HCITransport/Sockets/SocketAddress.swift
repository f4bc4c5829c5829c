import BluetoothPlatform
import CBluetoothHCI

/// The address of a stream socket: an Internet host and port, or a path.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private var length: socklen_t = 0

    /// The longest path in bytes: a socket address holds 108, including the terminating zero.
    static let longestPath = 107

    var family: Int32 { Int32(storage.ss_family) }

    /// The port, if the address has one.
    var port: UInt16? {
        // The port is at the same offset in the addresses of both Internet families.
        guard family == AF_INET || family == AF_INET6 else { return nil }
        return withUnsafeBytes(of: storage) {
            UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }

    /// Creates the address of a socket file, or of an abstract socket if the path starts with `@`. Bytes beyond
    /// `longestPath` are dropped; `TransportName` rejects such paths.
    init(path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = path.utf8.prefix(Self.longestPath)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let isAbstract = path.utf8.first == UInt8(ascii: "@")
        if isAbstract { address.sun_path.0 = 0 }
        // Every byte of an abstract name counts, so its length must be exact. A path includes its terminating zero.
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        length = socklen_t(offset + bytes.count + (isAbstract ? 0 : 1))
        withUnsafeMutableBytes(of: &storage) { storage in
            withUnsafeBytes(of: address) { storage.copyMemory(from: $0) }
        }
    }

    /// Reads the address that a socket is bound to.
    init(of socket: borrowing Socket) throws(Errno) {
        let descriptor = socket.fileDescriptor
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let storage = try Self.filled { address throws(Errno) in
            try Errno.check { getsockname(descriptor, address, &length) }
        }
        self.storage = storage
        self.length = length
    }

    private init(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
        self.length = min(length, socklen_t(MemoryLayout<sockaddr_storage>.size))
        let count = Int(self.length)
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: count))
        }
    }

    /// Passes the address to a system call.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    private static func filled(
        by body: (UnsafeMutablePointer<sockaddr>) throws(Errno) -> Void
    ) throws(Errno) -> sockaddr_storage {
        var storage = sockaddr_storage()
        try withUnsafeMutablePointer(to: &storage) { pointer throws(Errno) in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(Errno) in
                try body(address)
            }
        }
        return storage
    }

    // MARK: - Names

    /// Returns the addresses of a host in the order to try them, or the wildcard addresses if `host` is nil. This calls
    /// the system's resolver, which may wait for the network.
    static func resolve(host: String?, port: UInt16) throws(TransportError.Reason) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = cbt_stream_socket
        hints.ai_flags = AI_NUMERICSERV | (host == nil ? AI_PASSIVE : 0)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            throw .hostNotFound(detail: gai_strerror(code).map { String(cString: $0) } ?? "error \(code)")
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next {
            if let address = entry.pointee.ai_addr {
                addresses.append(SocketAddress(copying: address, length: entry.pointee.ai_addrlen))
            }
            next = entry.pointee.ai_next
        }
        // A socket bound to all IPv6 addresses also accepts IPv4 connections, but not vice versa.
        if host == nil { addresses.sort { $0.family == AF_INET6 && $1.family != AF_INET6 } }
        return addresses
    }
}
