/// Lists the kernel's Bluetooth adapters and takes them over.
public enum HCIAdapter {
    /// Returns the adapters present, sorted by number. Requires no privileges.
    ///
    /// Throws `.bluetoothUnavailable` if the kernel has no Bluetooth sockets.
    public static func list() throws(TransportError) -> [AdapterInformation] {
        try list(calls: .kernel)
    }

    static func list(calls: AdapterCalls) throws(TransportError) -> [AdapterInformation] {
        try AdapterControl(name: "hci-socket", calls: calls).list()
    }

    /// Returns an error that explains why `list` is empty and how to fix it: either no adapter is present, or a switch
    /// of the machine keeps it off.
    ///
    /// Throws `.bluetoothUnavailable` if the kernel has no Bluetooth sockets.
    public static func absence() throws(TransportError) -> TransportError {
        try absence(calls: .kernel)
    }

    static func absence(calls: AdapterCalls) throws(TransportError) -> TransportError {
        let control = try AdapterControl(name: "hci-socket", calls: calls)
        return control.failure(control.absence())
    }

    /// Opens an adapter's user channel, which diverts all HCI traffic of the adapter from the kernel's host stack.
    /// Requires `CAP_NET_ADMIN`.
    ///
    /// The kernel requires the adapter to be down. An adapter that is up is brought down first, and brought up again
    /// when the transport closes or if opening fails. The same applies to an adapter that was up before a program using
    /// this package crashed and left it down.
    static func open(
        _ selector: AdapterSelector, calls: AdapterCalls = .kernel, socketCalls: SocketCalls = .packet
    ) throws(TransportError) -> PacketTransport {
        let control = try AdapterControl(name: TransportName.hciSocket(selector).description, calls: calls)
        let adapters = try control.list()
        guard !adapters.isEmpty else { throw control.failure(control.absence()) }
        let adapter: AdapterInformation?
        switch selector {
        case .first: return try openFirst(of: adapters, calls: calls, socketCalls: socketCalls)
        case .index(let index): adapter = adapters.first { $0.index == index }
        case .address(let address): adapter = adapters.first { $0.address == address }
        }
        guard let adapter else {
            // The address of an adapter that was just plugged in is unknown until it has been set up.
            let isBeingSetUp = adapters.contains { $0.state == .initializing && $0.address == nil }
            throw control.failure(isBeingSetUp ? .adapterInitializing : .noSuchAdapter(present: adapters))
        }
        return try TakenAdapter.open(adapter, control: control, socketCalls: socketCalls)
    }

    /// Opens the first adapter that can be opened. If none can be, throws the error of the first one that seemed
    /// usable.
    private static func openFirst(
        of adapters: [AdapterInformation], calls: AdapterCalls, socketCalls: SocketCalls
    ) throws(TransportError) -> PacketTransport {
        let usable = adapters.filter(\.isUsable)
        var failure: TransportError?
        for adapter in usable.isEmpty ? Array(adapters.prefix(1)) : usable {
            do throws(TransportError) {
                // From here on, errors name this adapter.
                let name = TransportName.hciSocket(.index(adapter.index)).description
                let control = try AdapterControl(name: name, calls: calls)
                return try TakenAdapter.open(adapter, control: control, socketCalls: socketCalls)
            } catch {
                guard error.reason.isSpecificToAdapter else { throw error }
                failure = failure ?? error
            }
        }
        throw failure ?? TransportError(.noSuchAdapter(present: adapters), transport: "hci-socket")
    }
}

extension AdapterInformation {
    /// Whether opening the adapter may succeed.
    fileprivate var isUsable: Bool {
        switch state {
        case .held, .initializing: false
        case .down, .up: block == nil && supportsLowEnergy != false
        }
    }
}

extension TransportError.Reason {
    /// Whether opening another adapter may succeed.
    fileprivate var isSpecificToAdapter: Bool {
        switch self {
        case .noSuchAdapter, .adapterHeld, .adapterBroughtUp, .adapterInitializing, .adapterBlocked: true
        default: false
        }
    }
}
