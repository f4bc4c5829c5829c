import CBluetoothHCI

/// The kernel's Bluetooth adapters, and how one is taken over.
public enum HCIAdapter {
    /// The indices of the adapters present: `N` of `hciN`.
    ///
    /// Throws `.bluetoothUnavailable` where the kernel has no Bluetooth sockets.
    public static func present() throws(TransportError) -> [UInt16] {
        try present(calls: .kernel)
    }

    static func present(calls: AdapterCalls) throws(TransportError) -> [UInt16] {
        let opening = try Opening(name: "hci-socket", calls: calls)
        defer { calls.close(opening.control) }
        return try opening.step("HCIGETDEVLIST") { () throws(Errno) in try calls.adapters(opening.control) }
    }

    /// Opens an adapter's user channel: all its HCI traffic is ours, and the kernel's host stack lets go of it.
    ///
    /// The adapter must be down for that. One that is up is brought down first, and up again when the transport closes
    /// or where opening fails. Needs `CAP_NET_ADMIN`.
    static func open(
        index: UInt16, calls: AdapterCalls = .kernel, socketCalls: SocketCalls = .packet
    ) throws(TransportError) -> PacketTransport {
        let name = TransportName.hciSocket(index: index).description
        let opening = try Opening(name: name, calls: calls)
        let control = opening.control
        do throws(TransportError) {
            let wasUp = try opening.step("HCIGETDEVINFO") { () throws(Errno) in try calls.isUp(control, index) }
            if wasUp {
                try opening.step("HCIDEVDOWN") { () throws(Errno) in try calls.bringDown(control, index) }
            }
            // Nobody is left to tell when this fails: the adapter was unplugged, or has a new owner already.
            let restore = { if wasUp { try? calls.bringUp(control, index) } }
            do throws(TransportError) {
                let channel = try opening.step("bind") { () throws(Errno) in try calls.openUserChannel(index) }
                return PacketTransport(
                    name: name, fileDescriptor: channel, calls: socketCalls, ending: .adapterRemoved,
                    cleanUp: {
                        restore()
                        calls.close(control)
                    })
            } catch {
                restore()
                throw error
            }
        } catch {
            calls.close(control)
            throw error
        }
    }
}

/// An adapter being opened: the socket to ask the kernel with, and what its refusals mean.
private struct Opening {
    let name: String
    let calls: AdapterCalls
    let control: Int32

    init(name: String, calls: AdapterCalls) throws(TransportError) {
        self.name = name
        self.calls = calls
        do throws(Errno) {
            control = try calls.openControl()
        } catch {
            let reason = TransportError.Reason(
                openingAdapter: error, call: "socket", present: [], executable: calls.executable())
            throw TransportError(reason, transport: name)
        }
    }

    func step<Result>(_ call: String, _ body: () throws(Errno) -> Result) throws(TransportError) -> Result {
        do throws(Errno) {
            return try body()
        } catch {
            let reason = TransportError.Reason(
                openingAdapter: error, call: call, present: (try? calls.adapters(control)) ?? [],
                executable: calls.executable())
            throw TransportError(reason, transport: name)
        }
    }
}
