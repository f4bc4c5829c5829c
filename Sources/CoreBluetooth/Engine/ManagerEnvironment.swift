import Foundation

/// What a manager works in, settled when it is made: which adapter, and what is known of peers.
@usableFromInline
struct ManagerEnvironment: Sendable {
    let transport: BluetoothTransport
    let stateDirectory: URL
    let identities: PeerIdentities
    let adapter: SharedAdapter

    init() {
        transport = BluetoothEnvironment.transport
        stateDirectory = BluetoothEnvironment.stateDirectory
        identities = .kept(in: stateDirectory)
        adapter = .at(transport)
    }
}
