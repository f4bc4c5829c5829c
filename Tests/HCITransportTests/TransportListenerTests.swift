import BluetoothBase
import BluetoothPlatform
import CBluetoothHCI
import Testing

@testable import HCITransport

struct TransportListenerTests {
    /// The client's transport name for a server's.
    private func client(of name: TransportName) -> TransportName {
        switch name {
        case .tcpServer(let host, let port): .tcpClient(host: host ?? "127.0.0.1", port: port)
        case .unixServer(let path): .unixClient(path: path)
        default: name
        }
    }

    private func accept(_ listener: TransportListener) throws -> StreamTransport {
        let loop = try EventLoop()
        try loop.add(listener.fileDescriptor, token: 0, for: .read)
        while true {
            try #require(!loop.wait(until: hangGuard()).isEmpty, "no client connected")
            if let client = try listener.accept() { return client }
        }
    }

    private func exchange(_ host: any HCITransport, _ controller: any HCITransport) throws {
        try host.send(reset)
        #expect(try receive(1, from: controller) == [reset])
        try controller.send(resetComplete)
        #expect(try receive(1, from: host) == [resetComplete])
    }

    @Test("hosts connect to every kind of server, one after the other", arguments: ["tcp-4", "tcp-all", "file", "@"])
    func serves(kind: String) throws {
        let directory = Directory()
        let name: TransportName =
            switch kind {
            case "tcp-4": .tcpServer(host: "127.0.0.1", port: 0)
            case "tcp-all": .tcpServer(host: nil, port: 0)
            case "file": .unixServer(path: directory.file("hci"))
            default: .unixServer(path: "@\(directory.path)")
            }
        let listener = try TransportListener(name)
        #expect(try listener.accept() == nil)
        for _ in 0..<2 {
            let host = try client(of: listener.name).open()
            let controller = try accept(listener)
            try exchange(host, controller)
            host.close()
            #expect(try failure(of: controller) == .closedByPeer)
        }
        if case .tcpServer(_, let port) = listener.name { #expect(port != 0) }
    }

    @Test("both ends of an idle TCP connection are probed, so that they notice when the other machine has vanished")
    func keepAlive() throws {
        let listener = try TransportListener(.tcpServer(host: "127.0.0.1", port: 0))
        let host = try client(of: listener.name).open(), controller = try accept(listener)
        let tcp = Int32(IPPROTO_TCP)
        for end in [host, controller] as [any HCITransport] {
            for (level, option, value) in [
                (SOL_SOCKET, SO_KEEPALIVE, 1), (tcp, TCP_KEEPIDLE, 15), (tcp, TCP_KEEPINTVL, 5), (tcp, TCP_KEEPCNT, 3),
            ] as [(Int32, Int32, Int32)] {
                var current: Int32 = 0, length = socklen_t(MemoryLayout<Int32>.size)
                try #require(getsockopt(end.fileDescriptor, level, option, &current, &length) == 0)
                #expect(current == value)
            }
        }
    }

    @Test("a server without descriptors for a client reports it once, and accepts the client when some are available")
    func shortage() async {
        await #expect(processExitsWith: .exitCode(77)) { exit(try outlivesShortage() ? 77 : 1) }
    }

    @Test("a server that had no descriptors until its deadline reports that")
    func shortageAtTheEnd() async {
        await #expect(processExitsWith: .exitCode(77)) { exit(try endsInShortage() == EMFILE ? 77 : 1) }
    }

    @Test("a host may be the server: it opens once the controller has connected")
    func hostListens() throws {
        let directory = Directory()
        let name = TransportName.unixServer(path: directory.file("hci"))
        let thread = try ConnectingThread(to: directory.file("hci"))
        let host = try name.open(timeout: .seconds(30))
        #expect(host.name == name.description)
        thread.join()
        #expect(try failure(of: host) == .closedByPeer)
        #expect(!exists(directory.file("hci")))
    }

    @Test("an address in use is an error")
    func addressInUse() throws {
        let directory = Directory()
        for name in [TransportName.tcpServer(host: "127.0.0.1", port: 0), .unixServer(path: directory.file("hci"))] {
            let first = try TransportListener(name)
            let again = reason { () throws(TransportError) in _ = try TransportListener(first.name) }
            #expect(again == .addressInUse)
            // The refused one has not removed the first one's file.
            try exchange(try client(of: first.name).open(), try accept(first))
        }
    }

    @Test("a stale socket file left by a crash is replaced; closing removes it")
    func staleFile() throws {
        let directory = Directory(), path = directory.file("hci")
        do {
            let socket = try Socket(family: AF_UNIX)
            let result = SocketAddress(path: path).withPointer { bind(socket.fileDescriptor, $0, $1) }
            try #require(result == 0)
        }
        #expect(exists(path))
        let listener = try TransportListener(.unixServer(path: path))
        try exchange(try TransportName.unixClient(path: path).open(), try accept(listener))
        listener.close()
        listener.close()
        #expect(!exists(path))
        #expect(reason { () throws(TransportError) in _ = try listener.accept() } == .closed)
    }

    @Test("a file that is not a socket is left alone")
    func otherFile() throws {
        let directory = Directory(), path = directory.file("hci")
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        let refusal = reason { () throws(TransportError) in _ = try TransportListener(.unixServer(path: path)) }
        #expect(refusal == .pathTaken)
        #expect(exists(path))
    }

    @Test("a file that replaced the socket is left alone")
    func replacedFile() throws {
        let directory = Directory(), path = directory.file("hci")
        let listener = try TransportListener(.unixServer(path: path))
        unlink(path)
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        listener.close()
        #expect(exists(path))
    }

    @Test("connecting without a listener is refused")
    func refused() throws {
        let directory = Directory()
        let listener = try TransportListener(.tcpServer(host: "127.0.0.1", port: 0))
        listener.close()
        for name in [client(of: listener.name), .unixClient(path: directory.file("hci"))] {
            #expect(throws: TransportError(.connectionRefused, transport: name.description)) { try name.open() }
        }
    }

    @Test("a nonexistent host has its own error")
    func hostNotFound() {
        // Refused before any name server is asked: it is not a valid name.
        let refusal = reason { () throws(TransportError) in
            _ = try TransportName.tcpClient(host: "a..b", port: 1).open()
        }
        guard case .hostNotFound = refusal else {
            Issue.record("unexpected answer: \(String(describing: refusal))")
            return
        }
    }

    @Test("a server without a client times out")
    func timesOut() {
        let name = TransportName.tcpServer(host: "127.0.0.1", port: 0)
        let refusal = reason { () throws(TransportError) in _ = try name.open(timeout: .zero) }
        #expect(refusal == .timedOut)
    }

    @Test("waiting for a client can be cancelled")
    func cancelled() throws {
        let cancellation = try Waker()
        cancellation.wake()
        let name = TransportName.tcpServer(host: "127.0.0.1", port: 0)
        let refusal = reason { () throws(TransportError) in _ = try name.open(cancellation: cancellation) }
        #expect(refusal == .cancelled)
    }

    @Test("other kinds of names cannot listen; a radio in the process has no socket")
    func notASocket() {
        for name in [TransportName.virtual, .hciSocket(.index(0)), .unixClient(path: "p")] {
            #expect(reason { () throws(TransportError) in _ = try TransportListener(name) } == .notASocket)
        }
        #expect(reason { () throws(TransportError) in _ = try TransportName.virtual.open() } == .notASocket)
    }
}

/// A controller that connects to a server's socket file as soon as there is one, and leaves again.
private final class ConnectingThread {
    private var thread = pthread_t()

    init(to path: String) throws {
        let argument = Unmanaged.passRetained(Box(path)).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let path = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().path
                // The server says nowhere when it begins to listen.
                for _ in 0..<30_000 {
                    if let transport = try? TransportName.unixClient(path: path).open() {
                        transport.close()
                        break
                    }
                    usleep(1_000)
                }
                return nil
            }, argument)
        try #require(result == 0)
    }

    func join() { pthread_join(thread, nil) }

    private final class Box {
        let path: String
        init(_ path: String) { self.path = path }
    }
}

private func waitingClient() throws -> (TransportListener, any HCITransport) {
    let name = "@shortage-\(UInt64.random(in: .min ... .max))"
    let listener = try TransportListener(.unixServer(path: name))
    return (listener, try TransportName.unixClient(path: name).open())
}

/// Accepts a client without descriptors; they come once that was reported.
private func outlivesShortage() throws -> Bool {
    let (listener, client) = try waitingClient()
    limitDescriptors(to: 3)
    var reports: [TransportError.Reason] = []
    let server = try Connector().accept(from: listener) { error in
        reports.append(error.reason)
        limitDescriptors(to: 64)
    }
    try client.send(reset)
    return try reports == [.system(call: "accept", code: EMFILE)] && receive(1, from: server) == [reset]
}

/// What accepting a client without descriptors fails with.
private func endsInShortage() throws -> Int32? {
    let (listener, client) = try waitingClient()
    defer { client.close() }
    limitDescriptors(to: 3)
    do throws(TransportError) {
        let connector = Connector(deadline: MonotonicClock.now.advanced(by: .milliseconds(20)))
        _ = try connector.accept(from: listener) { _ in }
    } catch {
        if case .system("accept", let code) = error.reason { return code }
    }
    return nil
}

/// Lets this process have no descriptors from a number on. Those there are stay.
private func limitDescriptors(to count: rlim_t) {
    var limits = rlimit()
    let resource = Int32(bitPattern: RLIMIT_NOFILE.rawValue)
    getrlimit(resource, &limits)
    limits.rlim_cur = count
    setrlimit(resource, &limits)
}
