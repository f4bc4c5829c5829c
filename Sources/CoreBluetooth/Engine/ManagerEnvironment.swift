import BluetoothLE
import Foundation

/// What a manager works in, settled when it is made: which adapter, and what is known of peers.
@usableFromInline
struct ManagerEnvironment: Sendable {
    let transport: BluetoothTransport
    let stateDirectory: URL
    let identities: PeerIdentities
    /// The Device Names that peers have told.
    let names: DeviceNames
    /// The peers to which this process has a link.
    let linkedPeers: LinkedPeers

    init() {
        transport = BluetoothEnvironment.transport
        stateDirectory = BluetoothEnvironment.stateDirectory
        identities = .kept(in: stateDirectory)
        let shared = SharedTables.of(transport)
        (names, linkedPeers) = (shared.names, shared.linkedPeers)
    }
}
