/// The kernel's Bluetooth adapters, and how one is taken over.
public enum HCIAdapter {
    /// The adapters present, by number. Any user may ask.
    ///
    /// Throws `.bluetoothUnavailable` where the kernel has no Bluetooth sockets.
    public static func list() throws(TransportError) -> [AdapterInformation] {
        try list(calls: .kernel)
    }

    static func list(calls: AdapterCalls) throws(TransportError) -> [AdapterInformation] {
        try AdapterControl(name: "hci-socket", calls: calls).list()
    }

    /// Why `list` is empty, with what to do: there is no adapter, or a switch of the machine keeps it off.
    ///
    /// Throws `.bluetoothUnavailable` where the kernel has no Bluetooth sockets.
    public static func absence() throws(TransportError) -> TransportError {
        try absence(calls: .kernel)
    }

    static func absence(calls: AdapterCalls) throws(TransportError) -> TransportError {
        let control = try AdapterControl(name: "hci-socket", calls: calls)
        return control.failure(control.absence())
    }

    /// Opens an adapter's user channel: all its HCI traffic is ours, and the kernel's host stack lets go of it. Needs
    /// `CAP_NET_ADMIN`.
    ///
    /// The adapter must be down for that. One that is up is brought down first, and up again when the transport closes
    /// or where opening fails; one that a program of this package found up, and left down by crashing, is brought up
    /// in its place.
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
            // The address of one that was just plugged in is not known before it has been set up.
            let isToCome = adapters.contains { $0.state == .initializing && $0.address == nil }
            throw control.failure(isToCome ? .adapterInitializing : .noSuchAdapter(present: adapters))
        }
        return try TakenAdapter.open(adapter, control: control, socketCalls: socketCalls)
    }

    /// Opens the first that can be opened. Where none can, says why of the first that seemed usable.
    private static func openFirst(
        of adapters: [AdapterInformation], calls: AdapterCalls, socketCalls: SocketCalls
    ) throws(TransportError) -> PacketTransport {
        let usable = adapters.filter(\.isUsable)
        var failure: TransportError?
        for adapter in usable.isEmpty ? Array(adapters.prefix(1)) : usable {
            do throws(TransportError) {
                // From here on it is one adapter that is meant, and errors are to name it.
                let name = TransportName.hciSocket(.index(adapter.index)).description
                let control = try AdapterControl(name: name, calls: calls)
                return try TakenAdapter.open(adapter, control: control, socketCalls: socketCalls)
            } catch {
                guard error.reason.isOfOneAdapter else { throw error }
                failure = failure ?? error
            }
        }
        throw failure ?? TransportError(.noSuchAdapter(present: adapters), transport: "hci-socket")
    }
}

extension AdapterInformation {
    /// Whether opening it may work.
    fileprivate var isUsable: Bool {
        switch state {
        case .held, .initializing: false
        case .down, .up: block == nil && supportsLowEnergy != false
        }
    }
}

extension TransportError.Reason {
    /// Whether opening may work with another adapter.
    fileprivate var isOfOneAdapter: Bool {
        switch self {
        case .noSuchAdapter, .adapterHeld, .adapterBroughtUp, .adapterInitializing, .adapterBlocked: true
        default: false
        }
    }
}
