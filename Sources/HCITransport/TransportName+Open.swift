import BluetoothBase
import BluetoothHCI

extension TransportName {
    /// The default timeout for connecting.
    public static var connectTimeout: Duration { .seconds(10) }

    /// Opens this transport as the host's side of HCI or, for a stream or `vhci`, as the controller's side.
    ///
    /// This call blocks. A client waits for its connection, for 10 s if `timeout` is nil. A server waits for its first
    /// client, forever if `timeout` is nil. An adapter or a device opens immediately or not at all, with one exception:
    /// if the kernel is still setting up an adapter, this waits for it as for a connection. `cancellation` cancels the
    /// wait from any thread; it must not be used for anything else. Looking up a host name may take as long as the
    /// system's resolver allows, regardless of the timeout.
    ///
    /// `report` is called with the temporary error, such as a lack of file descriptors, that keeps a server from
    /// accepting its client.
    ///
    /// Throws a `TransportError` whose description names the fix; `.notASocket` for `virtual`.
    public func open(
        as receiver: H4Framer.Receiver = .host, timeout: Duration? = nil, cancellation: Waker? = nil,
        report: (TransportError) -> Void = { _ in }
    ) throws(TransportError) -> sending any HCITransport {
        switch self {
        case .virtual: throw TransportError(.notASocket, transport: description)
        case .hciSocket(let selector):
            let deadline = MonotonicClock.now.advanced(by: timeout ?? Self.connectTimeout)
            return try Connector(deadline: deadline, cancellation: cancellation).openAdapter(
                arrivals: try? AdapterArrivals()
            ) { () throws(TransportError) in try HCIAdapter.open(selector) }
        case .tcpClient, .unixClient:
            let deadline = MonotonicClock.now.advanced(by: timeout ?? Self.connectTimeout)
            let connector = Connector(deadline: deadline, cancellation: cancellation)
            do throws(TransportError.Reason) {
                let socket = try connector.connect(to: addresses())
                return StreamTransport(
                    name: description, fileDescriptor: socket.release(), receiver: receiver)
            } catch {
                throw TransportError(error, transport: description)
            }
        case .tcpServer, .unixServer:
            let deadline = timeout.map { MonotonicClock.now.advanced(by: $0) }
            let listener = try TransportListener(self, receiver: receiver)
            defer { listener.close() }
            return try Connector(deadline: deadline, cancellation: cancellation).accept(from: listener, report: report)
        case .serial(let line): return try SerialPort.open(line, as: receiver)
        case .pty(let link): return try PseudoTerminal.open(link: link, as: receiver)
        case .vhci(let path):
            guard receiver == .controller else {
                throw TransportError(.device(.takesControllersOnly), transport: description)
            }
            return try VirtualHCI.open(path: path)
        }
    }

    /// The addresses that a client tries to connect to.
    private func addresses() throws(TransportError.Reason) -> [SocketAddress] {
        switch self {
        case .tcpClient(let host, let port): try SocketAddress.resolve(host: host, port: port)
        case .unixClient(let path): [SocketAddress(path: path)]
        case .virtual, .hciSocket, .tcpServer, .unixServer, .serial, .pty, .vhci: []
        }
    }
}
