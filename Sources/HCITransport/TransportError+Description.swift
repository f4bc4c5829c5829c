import BluetoothPlatform

extension TransportError: CustomStringConvertible {
    /// The transport, the cause and, if possible, the fix, in one line.
    public var description: String { "\(transport): \(reason.description(adapter: adapter))" }

    /// The adapter's name as users know it: `hci0` for `hci-socket:0`, or an address unchanged.
    private var adapter: String {
        let prefix = "hci-socket:"
        if transport == HCIMonitor.name { return Reason.monitor }
        if transport.hasPrefix("serial:") { return Reason.serialDevice }
        switch transport.hasPrefix(prefix) ? AdapterSelector(String(transport.dropFirst(prefix.count))) : nil {
        case .index(let index): return "hci\(index)"
        case .address(let address): return address.octets
        case .first, nil: return "the adapter"
        }
    }
}

extension TransportError.Reason {
    /// The word for a serial device.
    fileprivate static let serialDevice = "the device"
    /// The words for the monitor channel.
    fileprivate static let monitor = "the monitor channel"

    fileprivate func description(adapter: String) -> String {
        switch self {
        case .connectionRefused: "connection refused; start the other side first"
        case .hostNotFound(let detail): "host not found (\(detail)); check the spelling of its name"
        case .unreachable(let detail): "cannot be reached (\(detail))"
        case .timedOut: "timed out; check that the other side is running"
        case .cancelled: "opening was cancelled"
        case .addressInUse: "the address is in use; stop the program that listens there, or choose another"
        case .pathTaken: "a file that is not a socket has this path; remove it, or choose another path"
        case .bluetoothUnavailable:
            "this kernel has no Bluetooth sockets; try: sudo modprobe bluetooth (in a container, also run it with "
                + "the host's network), or use a transport that needs no adapter"
        case .noSuchAdapter(present: []):
            "there is no Bluetooth adapter; plug one in, or use a transport that needs none"
        case .noSuchAdapter(let present): "there is no \(adapter); present: \(Self.list(present))"
        case .adapterHeld(let holder?) where holder.processIdentifier == getpid():
            "\(adapter) is in use by this program already; use the adapter that it has opened: it serves any number of "
                + "tasks and managers"
        case .adapterHeld(let holder):
            "\(adapter) is in use by \(holder?.description ?? "another program"); stop it, choose another adapter, or "
                + "have one program do both: see \"Sharing an adapter\" in Documentation/Linux.md"
        case .adapterBroughtUp:
            "another program keeps bringing \(adapter) up; stop it: "
                + "sudo systemctl stop bluetooth"
        case .adapterInitializing:
            "\(adapter) is still being set up by the kernel; try again in a few seconds, or plug it in again"
        case .adapterBlocked(.software):
            "the radio of \(adapter) is switched off; switch it on: sudo rfkill unblock bluetooth"
        case .adapterBlocked(.hardware):
            "the radio of \(adapter) is switched off by a switch or key of this machine; switch it on there"
        case .notPermitted(let executable?) where adapter == Self.monitor:
            "not permitted to read the adapters' traffic; grant it: "
                + "sudo setcap cap_net_raw,cap_net_admin+ep \(Self.quoted(executable))"
        case .notPermitted(nil) where adapter == Self.monitor:
            "root lacks CAP_NET_RAW here, and cannot read the adapters' traffic; in a container, run it with "
                + "--cap-add=NET_RAW --network=host"
        case .notPermitted(let executable?):
            "not permitted to take over \(adapter); "
                + "grant it: sudo setcap cap_net_admin+ep \(Self.quoted(executable))"
        case .notPermitted(nil):
            "root lacks CAP_NET_ADMIN here, and cannot take over \(adapter); in a container, run it with "
                + "--cap-add=NET_ADMIN --network=host"
        case .device(let fault): fault.description
        case .closedByPeer: "the other side closed the connection"
        case .adapterRemoved where adapter == Self.serialDevice: "the device is gone; plug it in again"
        case .adapterRemoved: "\(adapter) is gone: it was unplugged, or taken down by another program"
        case .malformedStream(let fault):
            "the received data is not HCI: \(fault); check that the other side speaks H4"
                + (adapter == Self.serialDevice ? ", at this baud rate" : "")
        case .invalidPacketLength(let length): "a packet of \(length) bytes is not an HCI packet"
        case .outputFull(let pending): "the other side does not read: \(pending) bytes are pending"
        case .closed: "the transport is closed"
        case .captureNotWritable(let code): "the capture cannot be written: \(Errno(code).text)"
        case .invalidEnvironment(let error): "\(error)"
        case .notASocket: "has no socket to open; it is a radio inside the process"
        case .radioNotLinked:
            "this program contains no radio; add the product VirtualRadio of swift-bluetooth-le to its dependencies"
        case .system(let call, let code): "\(call): \(Errno(code).text)"
        }
    }

    /// `hci0 00:AA:01:00:00:42, hci1`.
    private static func list(_ adapters: [AdapterInformation]) -> String {
        adapters.map { adapter in adapter.name + (adapter.address.map { " " + $0.octets } ?? "") }
            .joined(separator: ", ")
    }

    /// A path, quoted for a shell if necessary.
    private static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "-")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
        guard !isPlain else { return path }
        return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
