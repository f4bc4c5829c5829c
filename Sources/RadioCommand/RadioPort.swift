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
    /// The generator of each host's faults; nil if there are none.
    private var faults: HCIFaults?
    /// The host currently attached.
    var host: (any HCITransport)?
    /// The token of the watched descriptor; nil if no descriptor is watched.
    var token: Int?
    var isWatchedForWriting = false
    /// The time of the next attempt to accept a host; nil unless the last attempt failed.
    var retry: Instant?
    /// The reason for that failure.
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

    /// The faults for the next host.
    mutating func nextFaults() -> HCIFaults? { faults?.another() }

    /// Starts or stops watching for writability. It is needed while octets or packets for the host are pending.
    mutating func watchForWriting(_ isWanted: Bool, on loop: EventLoop) throws(TransportError) {
        guard isWanted != isWatchedForWriting, let token, let fileDescriptor else { return }
        isWatchedForWriting = isWanted
        try loop.change(fileDescriptor, token: token, to: isWanted ? [.read, .write] : .read)
    }
}
