import BluetoothBase
import CBluetoothHCI

/// The kernel's Bluetooth adapters, and how one is taken over.
public enum HCIAdapter {
    /// The adapters present, by number. Any user may ask.
    ///
    /// Throws `.bluetoothUnavailable` where the kernel has no Bluetooth sockets.
    public static func list() throws(TransportError) -> [AdapterInformation] {
        try list(calls: .kernel)
    }

    static func list(calls: AdapterCalls) throws(TransportError) -> [AdapterInformation] {
        let kernel = try AdapterQuestions(name: "hci-socket", calls: calls)
        defer { calls.close(kernel.control) }
        return try kernel.list()
    }

    /// Opens an adapter's user channel: all its HCI traffic is ours, and the kernel's host stack lets go of it.
    ///
    /// The adapter must be down for that. One that is up is brought down first, and up again when the transport closes
    /// or where opening fails. Needs `CAP_NET_ADMIN`.
    static func open(
        _ selector: AdapterSelector, calls: AdapterCalls = .kernel, socketCalls: SocketCalls = .packet
    ) throws(TransportError) -> PacketTransport {
        let name = TransportName.hciSocket(selector).description
        let kernel = try AdapterQuestions(name: name, calls: calls)
        let control = kernel.control
        do throws(TransportError) {
            let adapter = try kernel.find(selector)
            let index = adapter.index
            let wasUp = adapter.state == .up
            if wasUp {
                try kernel.step("HCIDEVDOWN") { () throws(Errno) in try calls.bringDown(control, index) }
            }
            // Nobody is left to tell when this fails: the adapter was unplugged, or has a new owner already.
            let restore = { if wasUp { try? calls.bringUp(control, index) } }
            do throws(TransportError) {
                let channel = try kernel.step("bind") { () throws(Errno) in try calls.openUserChannel(index) }
                return PacketTransport(
                    name: name, fileDescriptor: channel, calls: socketCalls,
                    reopeningName: adapter.address.map { .hciSocket(.address($0)) }, ending: .adapterRemoved,
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
