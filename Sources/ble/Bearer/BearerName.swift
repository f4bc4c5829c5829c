import ArgumentParser
import BluetoothCommandLine
import BluetoothPlatform

/// A bearer of the Attribute Protocol that another process has opened: `fd:N`, a socket that preserves packet
/// boundaries.
struct BearerName: ExpressibleByArgument, Equatable, Sendable {
    let descriptor: Int32

    init?(argument: String) {
        guard argument.hasPrefix("fd:"), let number = Int32(argument.dropFirst(3)), number >= 0 else {
            ArgumentRefusal.note(argument, "a bearer is fd:N, where N is an inherited descriptor, such as fd:3")
            return nil
        }
        descriptor = number
    }

    /// Throws an error unless the descriptor is a connected socket that preserves packet boundaries.
    func check() throws(CommandFailure) {
        let name = "fd:\(descriptor)"
        guard descriptor > STDERR_FILENO else {
            throw CommandFailure(.usage, "\(name) is a standard stream; pass a socket as descriptor 3 or above")
        }
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            throw CommandFailure(.usage, "\(name) is not open; the program that starts this one must pass it on")
        }
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 else {
            throw CommandFailure(.usage, "\(name) is not a socket; pass one of type SOCK_SEQPACKET")
        }
        guard type == packetSocketType else {
            throw CommandFailure(.usage, "\(name) is a socket of the wrong type; pass one of type SOCK_SEQPACKET")
        }
        var listens: Int32 = 0
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || listens == 0 else {
            throw CommandFailure(.usage, "\(name) is a listening socket; pass a connected one")
        }
    }
}
