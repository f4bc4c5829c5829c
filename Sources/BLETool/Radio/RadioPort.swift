import BluetoothBase
import BluetoothHCI
import HCITransport
import VirtualRadio

/// The port through which hosts use one controller of the radio, one at a time.
struct RadioPort {
    let name: TransportName
    let controller: ControllerID
    /// Nil if the radio connects to the host, or if the host is fixed: at the other end of a line, or the kernel.
    let listener: TransportListener?
    /// What each host's faults are drawn from; nil where there are none.
    private var faults: HCIFaults?
    /// The host currently attached.
    var host: (any HCITransport)?
    /// The token of the watched descriptor; nil if there is none.
    var token: Int?
    var isWatchedForWriting = false
    /// When to try again to accept a host, after that has failed, and why it has.
    var retry: Instant?
    var shortage: TransportError?

    /// Starts to listen if the transport is a server.
    init(
        _ name: TransportName, _ controller: ControllerID, faults: HCIFaults?
    ) throws(TransportError) {
        self.controller = controller
        self.faults = faults
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

    /// The descriptor to wait on: the host's, or the listener's if there is no host. While there is a host, others wait
    /// in the kernel's queue.
    var fileDescriptor: Int32? { host?.fileDescriptor ?? listener?.fileDescriptor }

    /// Faults for a host that comes.
    mutating func nextFaults() -> HCIFaults? { faults?.another() }

    /// Makes the loop report when the host reads again, as long as bytes are pending.
    mutating func watchForWriting(_ isWanted: Bool, on loop: EventLoop) throws(TransportError) {
        guard isWanted != isWatchedForWriting, let token, let fileDescriptor else { return }
        isWatchedForWriting = isWanted
        try loop.change(fileDescriptor, token: token, to: isWanted ? [.read, .write] : .read)
    }
}
