import BluetoothHCI
import Testing

@testable import HCITransport

struct TransportNameTests {
    @Test(
        "the environment names the default transport; otherwise it is the first adapter",
        arguments: [
            (nil, "hci-socket"), ("", "hci-socket"), ("hci-socket:3", "hci-socket:3"),
            ("unix:/run/hci", "unix-client:/run/hci"),
        ] as [(String?, String)])
    func preferred(value: String?, name: String) throws {
        #expect(try TransportName.preferred(inEnvironment: value).description == name)
    }

    @Test("an invalid transport in the environment is an error")
    func invalidEnvironment() {
        #expect(throws: TransportNameError(text: "bluetooth0", reason: .unknownKind)) {
            try TransportName.preferred(inEnvironment: "bluetooth0")
        }
    }

    @Test(
        "names are parsed, and written in their full form",
        arguments: [
            ("virtual", .virtual, "virtual"),
            ("hci-socket", .hciSocket(.first), nil),
            ("hci-socket:", .hciSocket(.first), "hci-socket"),
            ("hci-socket:3", .hciSocket(.index(3)), nil),
            ("hci-socket:hci3", .hciSocket(.index(3)), "hci-socket:3"),
            ("hci-socket:65534", .hciSocket(.index(65534)), nil),
            ("hci-socket:00:1B:DC:00:00:01", .hciSocket(.address(address("00:1B:DC:00:00:01"))), nil),
            // Public, though its two top bits are those of a static random address.
            (
                "hci-socket:c0:ff:ee:00:00:01", .hciSocket(.address(address("C0:FF:EE:00:00:01"))),
                "hci-socket:C0:FF:EE:00:00:01"
            ),
            ("tcp-client:127.0.0.1:6402", .tcpClient(host: "127.0.0.1", port: 6402), "tcp-client:127.0.0.1:6402"),
            ("tcp-client:[::1]:1", .tcpClient(host: "::1", port: 1), "tcp-client:[::1]:1"),
            ("tcp-client:radio.local:65535", .tcpClient(host: "radio.local", port: 65535), nil),
            ("tcp-server:_:6402", .tcpServer(host: nil, port: 6402), "tcp-server:_:6402"),
            ("tcp-server:127.0.0.1:0", .tcpServer(host: "127.0.0.1", port: 0), "tcp-server:127.0.0.1:0"),
            ("unix:/run/hci", .unixClient(path: "/run/hci"), "unix-client:/run/hci"),
            ("unix-client:a:b c", .unixClient(path: "a:b c"), "unix-client:a:b c"),
            ("unix-client:@radio", .unixClient(path: "@radio"), "unix-client:@radio"),
            ("unix-server:/run/hci", .unixServer(path: "/run/hci"), "unix-server:/run/hci"),
            ("serial:/dev/ttyS0", .serial(SerialLine(device: "/dev/ttyS0")), "serial:/dev/ttyS0,1000000"),
            (
                "serial:/dev/ttyS0,115200", .serial(SerialLine(device: "/dev/ttyS0", baudRate: 115200)),
                "serial:/dev/ttyS0,115200"
            ),
            (
                "serial:a b,rtscts,4294967295",
                .serial(SerialLine(device: "a b", baudRate: .max, usesFlowControl: true)),
                "serial:a b,4294967295,rtscts"
            ),
            (
                "serial:/dev/ttyS0,resync,1,rtscts",
                .serial(SerialLine(device: "/dev/ttyS0", baudRate: 1, usesFlowControl: true, resynchronizes: true)),
                "serial:/dev/ttyS0,1,rtscts,resync"
            ),
            ("pty", .pty(link: nil), "pty"), ("pty:", .pty(link: nil), "pty"),
            ("pty:/run/uart", .pty(link: "/run/uart"), nil),
            ("vhci", .vhci(path: "/dev/vhci"), "vhci"), ("vhci:/dev/vhci", .vhci(path: "/dev/vhci"), "vhci"),
            ("vhci:/dev/other", .vhci(path: "/dev/other"), nil),
        ] as [(String, TransportName, String?)])
    func reads(text: String, name: TransportName, written: String?) throws {
        #expect(try TransportName(text) == name)
        #expect(name.description == written ?? text)
        #expect(try TransportName(name.description) == name)
    }

    @Test(
        "invalid names are rejected with a reason",
        arguments: [
            ("", .unknownKind),
            ("usb:0", .unknownKind),
            ("HCI-socket:0", .unknownKind),
            ("hci-socket 0", .unknownKind),
            ("virtual:0", .unexpectedParameters),
            ("hci-socket:-1", .invalidAdapter),
            ("hci-socket:+1", .invalidAdapter),
            ("hci-socket:65535", .invalidAdapter),
            ("hci-socket:65536", .invalidAdapter),
            ("hci-socket:hci", .invalidAdapter),
            ("hci-socket:hci+1", .invalidAdapter),
            ("hci-socket:HCI0", .invalidAdapter),
            ("hci-socket:00:00:00:00:00:00", .invalidAdapter),
            ("hci-socket:00:1B:DC:00:00", .invalidAdapter),
            ("hci-socket:00:1B:DC:00:00:01/P", .invalidAdapter),
            ("tcp-client", .invalidHost),
            ("tcp-client:", .invalidHost),
            ("tcp-client::6402", .invalidHost),
            ("tcp-client:[]:6402", .invalidHost),
            ("tcp-client:::1:6402", .invalidHost),
            ("tcp-client:[::1:6402", .invalidHost),
            ("tcp-client:a\0b:6402", .invalidHost),
            ("tcp-client:localhost", .invalidPort),
            ("tcp-client:localhost:", .invalidPort),
            ("tcp-client:localhost:0", .invalidPort),
            ("tcp-client:localhost:65536", .invalidPort),
            ("tcp-client:localhost:+80", .invalidPort),
            ("tcp-client:localhost:٣", .invalidPort),
            ("tcp-server:_:", .invalidPort),
            ("serial", .invalidDevice),
            ("serial:", .invalidDevice),
            ("serial:,115200", .invalidDevice),
            ("serial:a\0b", .invalidDevice),
            ("serial:/dev/ttyS0,", .invalidSerialOption),
            ("serial:/dev/ttyS0,0", .invalidSerialOption),
            ("serial:/dev/ttyS0,-1", .invalidSerialOption),
            ("serial:/dev/ttyS0,4294967296", .invalidSerialOption),
            ("serial:/dev/ttyS0,9600,9600", .invalidSerialOption),
            ("serial:/dev/ttyS0,rtscts,rtscts", .invalidSerialOption),
            ("serial:/dev/ttyS0,RTSCTS", .invalidSerialOption),
            ("serial:/dev/ttyS0,dsrdtr", .invalidSerialOption),
            ("pty:a\0b", .invalidDevice),
            ("vhci:a\0b", .invalidDevice),
            ("unix", .invalidPath),
            ("unix-client:", .invalidPath),
            ("unix-client:@", .invalidPath),
            ("unix-server:a\0b", .invalidPath),
            ("unix-server:" + String(repeating: "p", count: 108), .invalidPath),
        ] as [(String, TransportNameError.Reason)])
    func refuses(text: String, reason: TransportNameError.Reason) {
        #expect(throws: TransportNameError(text: text, reason: reason)) { try TransportName(text) }
    }

    @Test("the longest possible path is accepted")
    func longestPath() throws {
        let path = String(repeating: "p", count: 107)
        #expect(try TransportName("unix:\(path)") == .unixClient(path: path))
    }

    @Test("an error quotes the text and lists the accepted transports in one line")
    func errorText() {
        let text = TransportNameError(text: "usb:0", reason: .unknownKind).description
        #expect(
            text == "\"usb:0\" is not a transport; accepted are virtual, hci-socket:ADAPTER (0, hci0 or an address), "
                + "tcp-client:HOST:PORT, tcp-server:HOST:PORT (HOST _ for all interfaces), unix-client:PATH, "
                + "unix-server:PATH, serial:DEVICE[,BAUD][,rtscts][,resync], pty[:LINK] and vhci[:PATH]")
    }

    @Test(
        "controllers behind sockets and pseudo-terminals do not belong to this machine",
        arguments: [
            ("hci-socket", true), ("hci-socket:0", true), ("serial:/dev/ttyACM0", true), ("virtual", false),
            ("unix:/tmp/radio", false), ("unix-server:/tmp/radio", false), ("tcp-client:127.0.0.1:6402", false),
            ("tcp-server:_:6402", false), ("pty", false), ("vhci", false),
        ])
    func ownControllers(_ text: String, _ isOfThisMachine: Bool) throws {
        #expect(try TransportName(text).isOfThisMachine == isOfThisMachine)
    }

    @Test("a serial line that is a pseudo-terminal does not belong to this machine")
    func pseudoTerminal() throws {
        let terminal = try PseudoTerminal.open(link: nil, as: .host)
        defer { terminal.close() }
        #expect(try !TransportName(try #require(terminal.otherEnd)).isOfThisMachine)
    }
}
