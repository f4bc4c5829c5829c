import BluetoothAdapter
import Foundation

/// The place of what managers keep from run to run.
enum StatePlace: Sendable {
    case directory(URL)
    case memory(MemoryState)
}

/// What the managers of a tested application keep from run to run: restoration state, bonds, and the key of the peers'
/// identifiers. It is gone with this object, and nothing of it is ever on disk.
package final class MemoryState: Sendable {
    let bonds = MemoryBondStore()
    let identities: PeerIdentities
    let seed: UInt64
    private let files = Guarded<[String: Data]>(wrappedValue: [:])

    /// Creates the state of an application that was never run.
    ///
    /// - Parameter seed: the seed of the host, and of the identifiers of peers.
    package init(seed: UInt64) {
        self.seed = seed
        identities = PeerIdentities(key: Speck128.Block(left: seed, right: ~seed))
    }

    /// The content of a file; nil if it does not exist.
    subscript(name: String) -> Data? {
        get { files.withLock { $0[name] } }
        set { files.withLock { $0[name] = newValue } }
    }

    /// The identifier by which the application knows a peer.
    package func identifier(for address: DeviceAddress) -> UUID { identities.identifier(for: PeerID(address)) }
}
