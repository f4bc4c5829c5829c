import Foundation

/// The environment of a manager, fixed at creation: its adapter, and the known peers.
@usableFromInline
struct ManagerEnvironment: Sendable {
    let transport: BluetoothTransport
    let stateDirectory: URL
    let identities: PeerIdentities
    let adapter: SharedAdapter
    let pairing: BluetoothPairing

    init() {
        transport = BluetoothEnvironment.transport
        stateDirectory = BluetoothEnvironment.stateDirectory
        identities = .kept(in: stateDirectory)
        adapter = .at(transport)
        pairing = BluetoothEnvironment.pairing
    }
}
