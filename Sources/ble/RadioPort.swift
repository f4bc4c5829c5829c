import HCITransport
import VirtualRadio

/// Where one controller of the radio meets its hosts, one at a time.
struct RadioPort {
    let name: TransportName
    let controller: ControllerID
    /// Nil where the radio calls the host, or where the host is known: at the other end of a line, or the kernel.
    let listener: TransportListener?
    /// The host on the controller now.
    var host: (any HCITransport)?
    /// What the descriptor is watched under; nil where there is none.
    var token: Int?
    var isWatchedForWriting = false

    /// Begins to listen where the transport is a server.
    init(_ name: TransportName, _ controller: ControllerID) throws(TransportError) {
        self.controller = controller
        switch name {
        case .tcpServer, .unixServer:
            let listener = try TransportListener(name)
            self.listener = listener
            self.name = listener.name
        case .tcpClient, .unixClient, .serial, .pty, .vhci, .hciSocket, .virtual:
            listener = nil
            self.name = name
        }
    }

    /// What to wait on: the host, or else the next one. While there is a host, others wait in the kernel's queue.
    var fileDescriptor: Int32? { host?.fileDescriptor ?? listener?.fileDescriptor }

    /// Has the loop tell when the host reads again, as long as something waits for that.
    mutating func watchForWriting(_ isWanted: Bool, on loop: EventLoop) throws(TransportError) {
        guard isWanted != isWatchedForWriting, let token, let fileDescriptor else { return }
        isWatchedForWriting = isWanted
        try loop.change(fileDescriptor, token: token, to: isWanted ? [.read, .write] : .read)
    }
}
