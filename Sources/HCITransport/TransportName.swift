/// The name of a transport for HCI packets. The names are those that Bumble uses.
///
/// The text form is `kind:parameters`; `description` returns it.
@nonexhaustive
public enum TransportName: Hashable, Sendable {
    /// `virtual`: a simulated radio inside this process. It is not a socket; the owner of that radio resolves the name.
    case virtual
    /// `hci-socket:ADAPTER`: one of the kernel's adapters, taken over through its user channel. `ADAPTER` is a number,
    /// a name or an address: `0`, `hci0` or `AA:BB:CC:DD:EE:FF`. It defaults to the first usable adapter.
    case hciSocket(AdapterSelector)
    /// `tcp-client:HOST:PORT`: connects to a controller that listens at this address.
    case tcpClient(host: String, port: UInt16)
    /// `tcp-server:HOST:PORT`: listens on an address of this machine. The host `_` means all addresses; port 0 lets the
    /// system choose the port.
    case tcpServer(host: String?, port: UInt16)
    /// `unix-client:PATH`, or `unix:PATH`: connects to a socket file. A path that starts with `@` names an abstract
    /// socket, which has no file.
    case unixClient(path: String)
    /// `unix-server:PATH`: listens on a socket file.
    case unixServer(path: String)
    /// `serial:DEVICE[,BAUD][,rtscts][,resync]`: H4 over a serial line, as spoken by dongles with HCI firmware.
    case serial(SerialLine)
    /// `pty[:LINK]`: a new pseudo-terminal, whose other end is opened as `serial:`. `LINK` is the path of a symbolic
    /// link to that end. Without the link, the user of a host has no way to find that end, whereas a radio prints its
    /// path.
    case pty(link: String?)
    /// `vhci[:PATH]`: the kernel's virtual HCI device, by default `/dev/vhci`. It provides a controller to the kernel
    /// as another adapter `hciN`. A host can't open it.
    case vhci(path: String)

    /// The default path of the virtual HCI device.
    public static let vhciPath = "/dev/vhci"
}

extension TransportName {
    /// Whether this is a controller of this machine: one of the kernel's adapters, or a dongle on a serial line.
    ///
    /// A controller behind a socket or a pseudo-terminal may be virtual. Virtual devices reuse addresses, so bonds with
    /// them must not be mistaken for bonds with real devices.
    public var isOfThisMachine: Bool {
        switch self {
        case .hciSocket: true
        case .serial(let line): !line.isPseudoTerminal
        case .virtual, .tcpClient, .tcpServer, .unixClient, .unixServer, .pty, .vhci: false
        }
    }
}

/// An error that describes why a text is not a valid transport name.
public struct TransportNameError: Error, Equatable, Sendable {
    /// The reason for the error.
    @nonexhaustive
    public enum Reason: Error, Equatable, Sendable {
        /// The part before the colon is not a known kind of transport.
        case unknownKind
        /// The adapter is not a number from 0 to 65534, `hci` followed by such a number, or a public address.
        case invalidAdapter
        /// The host is missing, or an IPv6 address is not in brackets.
        case invalidHost
        /// The port is missing, or not a number from 1 to 65535 (0 is allowed for a server).
        case invalidPort
        /// The path is empty, contains a zero byte, or exceeds the 107 bytes that fit in a socket address.
        case invalidPath
        /// The path of a device, or of a link to one, is empty or contains a zero byte.
        case invalidDevice
        /// An option of a serial device is not a baud rate, `rtscts` or `resync`, or is repeated.
        case invalidSerialOption
        /// The transport kind has no parameters.
        case unexpectedParameters
    }

    /// The original text.
    public var text: String
    /// The rule of the text form that `text` violates.
    public var reason: Reason
}

// MARK: - Text

extension TransportName: CustomStringConvertible {
    /// Parses the text form.
    public init(_ text: String) throws(TransportNameError) {
        let colon = text.firstIndex(of: ":")
        let kind = text[..<(colon ?? text.endIndex)]
        let parameters = colon.map { text[text.index(after: $0)...] } ?? ""
        do throws(TransportNameError.Reason) {
            switch kind {
            case "virtual":
                guard colon == nil else { throw .unexpectedParameters }
                self = .virtual
            case "hci-socket":
                guard let selector = AdapterSelector(String(parameters)) else { throw .invalidAdapter }
                self = .hciSocket(selector)
            case "tcp-client":
                let (host, port) = try Self.hostAndPort(parameters)
                guard port != 0 else { throw .invalidPort }
                self = .tcpClient(host: host, port: port)
            case "tcp-server":
                let (host, port) = try Self.hostAndPort(parameters)
                self = .tcpServer(host: host == "_" ? nil : host, port: port)
            case "unix", "unix-client": self = .unixClient(path: try Self.path(parameters))
            case "unix-server": self = .unixServer(path: try Self.path(parameters))
            case "serial": self = .serial(try SerialLine(parameters))
            case "pty": self = .pty(link: parameters.isEmpty ? nil : try SerialLine.path(parameters))
            case "vhci": self = .vhci(path: parameters.isEmpty ? Self.vhciPath : try SerialLine.path(parameters))
            default: throw .unknownKind
            }
        } catch {
            throw TransportNameError(text: text, reason: error)
        }
    }

    /// The text form, such as `hci-socket:0` or `tcp-server:_:1234`. A default adapter or path is omitted.
    public var description: String {
        switch self {
        case .virtual: "virtual"
        case .hciSocket(.first): "hci-socket"
        case .hciSocket(let selector): "hci-socket:\(selector)"
        case .tcpClient(let host, let port): "tcp-client:\(Self.bracketed(host)):\(port)"
        case .tcpServer(let host, let port): "tcp-server:\(host.map(Self.bracketed) ?? "_"):\(port)"
        case .unixClient(let path): "unix-client:\(path)"
        case .unixServer(let path): "unix-server:\(path)"
        case .serial(let line): "serial:\(line)"
        case .pty(let link): link.map { "pty:\($0)" } ?? "pty"
        case .vhci(let path): path == Self.vhciPath ? "vhci" : "vhci:\(path)"
        }
    }

    private static func hostAndPort(_ text: Substring) throws(TransportNameError.Reason) -> (String, UInt16) {
        guard let colon = text.lastIndex(of: ":") else {
            throw text.isEmpty ? .invalidHost : .invalidPort
        }
        var host = text[..<colon]
        if host.first == "[" {
            guard host.last == "]" else { throw .invalidHost }
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw .invalidHost
        }
        guard !host.isEmpty, !host.utf8.contains(0) else { throw .invalidHost }
        guard let port: UInt16 = decimalNumber(text[text.index(after: colon)...]) else { throw .invalidPort }
        return (String(host), port)
    }

    private static func path(_ text: Substring) throws(TransportNameError.Reason) -> String {
        guard !text.isEmpty, text != "@", text.utf8.count <= SocketAddress.longestPath, !text.utf8.contains(0)
        else { throw .invalidPath }
        return String(text)
    }

    private static func bracketed(_ host: String) -> String {
        host.contains(":") ? "[\(host)]" : host
    }
}

/// Parses a number that consists of digits only. The initializers of integers would also accept a sign.
func decimalNumber<Number: FixedWidthInteger>(_ text: Substring) -> Number? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Number(text)
}

extension TransportNameError: CustomStringConvertible {
    /// A sentence that quotes the text, states the problem and lists the accepted forms.
    public var description: String {
        let problem =
            switch reason {
            case .unknownKind: "is not a transport"
            case .invalidAdapter: "does not name an adapter"
            case .invalidHost: "does not name a host"
            case .invalidPort: "does not name a port"
            case .invalidPath: "does not name a socket path of at most \(SocketAddress.longestPath) bytes"
            case .invalidDevice: "does not name a device"
            case .invalidSerialOption: "has an option other than a baud rate, rtscts or resync, or has one twice"
            case .unexpectedParameters: "has parameters, but accepts none"
            }
        return "\"\(text)\" \(problem); accepted are virtual, hci-socket:ADAPTER (0, hci0 or an address), "
            + "tcp-client:HOST:PORT, tcp-server:HOST:PORT (HOST _ for all interfaces), unix-client:PATH, unix-server:PATH, "
            + "serial:DEVICE[,BAUD][,rtscts][,resync], pty[:LINK] and vhci[:PATH]"
    }
}
