import BluetoothLE
import Dispatch

/// A user of a link who is not one of the application's managers.
@BluetoothEngine
final class OtherProgram: AdapterUser, LinkUser {
    nonisolated let delivery = Delivery(DispatchQueue(label: "other program"))

    private let transport: BluetoothTransport
    private let shared: SharedAdapter
    private var waiting: CheckedContinuation<Void, Never>?
    private var link: SharedLink?

    init(_ transport: BluetoothTransport) {
        self.transport = transport
        shared = .at(transport)
    }

    /// Makes a link, or joins in the use of the one there is. Returns when the peer's services are known.
    func connect(to peer: DeviceAddress) async throws(BluetoothError) {
        shared.add(self)
        do throws(BluetoothError) {
            // Until the first try to open the adapter has ended, if it has not.
            if shared.state == .unknown { await withCheckedContinuation { waiting = $0 } }
            let link = try await shared.link(to: peer)
            // The link holds it from here on.
            try link.add(self)
            self.link = link
            _ = try await link.services()
            SharedTables.of(transport).linkedPeers.set(link.knownServices, of: peer)
        } catch {
            shared.remove(self)
            throw error
        }
    }

    func adapterChanged(to state: CBManagerState) {
        waiting?.resume()
        waiting = nil
    }

    func linkEnded(_ reason: BluetoothError) {
        link = nil
        shared.remove(self)
    }

    func linkChanged(to peer: DeviceAddress, services: Set<BluetoothUUID>, isConnected: Bool) {}
    func received(_ value: [UInt8], of handle: AttributeHandle) {}
    func mtuChanged(to mtu: Int) {}
    func nameChanged(to name: String) {}
    func servicesChanged(in handles: ClosedRange<AttributeHandle>) {}
}
