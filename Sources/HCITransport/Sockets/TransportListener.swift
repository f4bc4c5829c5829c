import BluetoothHCI
import BluetoothPlatform
import CBluetoothHCI

/// Listens for controllers, or hosts: the `tcp-server` and `unix-server` kinds.
///
/// Each `accept` returns one transport. To serve one client at a time, stop watching `fileDescriptor` while there is
/// one: the next client waits in the kernel's queue.
public final class TransportListener {
    /// The name it listens under; if port 0 was requested, with the port the system chose.
    public let name: TransportName
    /// The side of HCI of its transports.
    public let receiver: H4Framer.Receiver
    /// What an event loop waits on, for reading; -1 once closed.
    public private(set) var fileDescriptor: Int32
    private let socketFile: SocketFile?

    /// How long to wait where a client could not be accepted for want of descriptors.
    public static var retryDelay: Duration { .seconds(1) }

    /// How many clients may wait in the kernel's queue.
    private static let backlog: Int32 = 8

    /// Starts to listen: for hosts if `receiver` is the controller, and the other way round. A socket file is created,
    /// replacing a stale one.
    ///
    /// Throws `.addressInUse`, `.pathTaken`, `.hostNotFound` and, for a name that is not a server's, `.notASocket`.
    /// Looking up a host name may wait for the network.
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

    /// Accepts the next client that has connected; nil if there is none, or if it has already disconnected.
    ///
    /// Where it throws for want of descriptors (`TransportError.isShortage`), the client still waits: try again after
    /// `retryDelay`, and do not watch `fileDescriptor` meanwhile.
    public func accept() throws(TransportError) -> sending StreamTransport? {
        guard fileDescriptor >= 0 else { throw TransportError(.closed, transport: name.description) }
        do throws(Errno) {
            let socket = Socket(owning: try Errno.check { cbt_accept(fileDescriptor) })
            socket.sendWithoutDelay()
            return StreamTransport(
                name: name.description, fileDescriptor: socket.release(), receiver: receiver)
        } catch {
            switch error.code {
            case EMFILE, ENFILE, ENOBUFS, ENOMEM, EBADF, EINVAL, ENOTSOCK, EOPNOTSUPP, EPERM:
                throw TransportError(.system(call: "accept", code: error.code), transport: name.description)
            // The rest are failures of that client's connection only.
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
            // A restarted server need not wait until the connections of the previous one have expired.
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
