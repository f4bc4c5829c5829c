import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI

/// Listens for connections of hosts or controllers, for the `tcp-server` and `unix-server` transports.
///
/// Each `accept` returns one transport. To serve one client at a time, stop watching `fileDescriptor` while a client is
/// connected. The next client waits in the kernel's queue.
public final class TransportListener {
    /// The name of the listener. If port 0 was requested, it contains the port that the system chose.
    public let name: TransportName
    /// The side of HCI that the accepted transports represent.
    public let receiver: H4Framer.Receiver
    /// The descriptor that an event loop waits on for reading; -1 once closed.
    public private(set) var fileDescriptor: Int32
    private let socketFile: SocketFile?

    /// The time to wait before accepting again after file descriptors or memory ran out.
    public static var retryDelay: Duration { .seconds(1) }

    /// The number of clients that may wait in the kernel's queue.
    private static let backlog: Int32 = 8

    /// Starts listening for hosts if `receiver` is the controller, or for controllers if it is the host. For a unix
    /// server, this creates the socket file, replacing a stale one.
    ///
    /// Throws `.addressInUse`, `.pathTaken` or `.hostNotFound`, and `.notASocket` if `name` is not a server. Looking up
    /// a host name may wait for the network.
    public init(_ name: TransportName, receiver: H4Framer.Receiver = .controller) throws(TransportError) {
        self.receiver = receiver
        do throws(TransportError.Reason) {
            switch name {
            case .tcpServer(let host, let port):
                let socket = try Self.listen(host: host, port: port)
                let bound = try? SocketAddress(of: socket)
                self.name = .tcpServer(host: host, port: bound?.port ?? port)
                socketFile = nil
                fileDescriptor = socket.release()
            case .unixServer(let path):
                if !path.hasPrefix("@") { try SocketFile.removeStale(path) }
                let socket = try Self.listen(on: SocketAddress(path: path))
                socketFile = path.hasPrefix("@") ? nil : SocketFile(path)
                self.name = name
                fileDescriptor = socket.release()
            case .virtual, .hciSocket, .tcpClient, .unixClient, .serial, .pty, .vhci: throw .notASocket
            }
        } catch {
            throw TransportError(error, transport: name.description)
        }
    }

    deinit { close() }

    /// Accepts the next client that has connected. Returns nil if no client is waiting, or if it has already
    /// disconnected.
    ///
    /// If it throws because file descriptors or memory ran out (`TransportError.isShortage`), the client is still
    /// waiting. Try again after `retryDelay`, and do not watch `fileDescriptor` until then.
    public func accept() throws(TransportError) -> sending StreamTransport? {
        guard fileDescriptor >= 0 else { throw TransportError(.closed, transport: name.description) }
        do throws(Errno) {
            let socket = Socket(owning: try Errno.check { cbt_accept(fileDescriptor) })
            socket.setStreamOptions()
            return StreamTransport(
                name: name.description, fileDescriptor: socket.release(), receiver: receiver)
        } catch {
            switch error.code {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM, EBADF, EINVAL, ENOTSOCK, EOPNOTSUPP, EPERM:
                throw TransportError(.system(call: "accept", code: error.code), transport: name.description)
            // All other errors concern only that client's connection.
            default: return nil
            }
        }
    }

    /// Stops listening and removes the socket file. Accepted clients are not affected.
    public func close() {
        guard fileDescriptor >= 0 else { return }
        socketFile?.remove()
        _ = BluetoothPlatform.close(fileDescriptor)
        fileDescriptor = -1
    }

    private static func listen(host: String?, port: UInt16) throws(TransportError.Reason) -> Socket {
        var failure = TransportError.Reason.hostNotFound(detail: "no address")
        for address in try SocketAddress.resolve(host: host, port: port) {
            do throws(TransportError.Reason) {
                return try listen(on: address)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private static func listen(on address: SocketAddress) throws(TransportError.Reason) -> Socket {
        do throws(Errno) {
            let socket = try Socket(family: address.family)
            let descriptor = socket.fileDescriptor
            // Lets a restarted server bind before the connections of its predecessor have expired.
            if address.family != AF_UNIX { try socket.set(SO_REUSEADDR, to: 1) }
            if address.family == AF_INET6 { try? socket.set(IPV6_V6ONLY, level: Int32(IPPROTO_IPV6), to: 0) }
            try Errno.check { address.withPointer { bind(descriptor, $0, $1) } }
            try Errno.check { BluetoothPlatform.listen(descriptor, backlog) }
            return socket
        } catch {
            throw .init(listening: error)
        }
    }
}
