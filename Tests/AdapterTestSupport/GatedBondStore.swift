import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothSMP
import Dispatch
import Synchronization

/// A store that makes no change until it is opened, and that has no room for some bonds.
package final class GatedBondStore: BondStoreDecorator {
    package let store: MemoryBondStore
    private let gate = DispatchSemaphore(value: 0)
    private let refused: Set<PeerID>
    private let log = Mutex<[String]>([])
    private let arrivals = AsyncStream.makeStream(of: Void.self)

    /// - Parameters:
    ///   - store: the store that is changed.
    ///   - refused: the peers whose bonds cannot be saved, because of `BondStoreError.diskFull`.
    package init(_ store: MemoryBondStore = MemoryBondStore(), refusing refused: Set<PeerID> = []) {
        self.store = store
        self.refused = refused
    }

    /// The changes that were made or refused, in order.
    package var lines: [String] { log.withLock { $0 } }

    /// Allows all changes from now on.
    package func open() { gate.signal() }

    /// Waits until the first change has arrived. It is not made before `open` is called.
    package func reached() async { for await _ in arrivals.stream { return } }

    package func save(_ bond: Bond, of local: DeviceIdentity) throws(BondStoreError) {
        waitUntilOpen()
        log.withLock { $0.append("save \(bond.address.value & 0xFF) \(bond.name ?? "")") }
        guard !refused.contains(bond.peer) else { throw .diskFull }
        try store.save(bond, of: local)
    }

    package func remove(_ peer: PeerID, of local: DeviceIdentity) throws(BondStoreError) -> Bool {
        waitUntilOpen()
        log.withLock { $0.append("remove \(peer.firstAddress.value & 0xFF)") }
        return try store.remove(peer, of: local)
    }

    private func waitUntilOpen() {
        arrivals.continuation.yield()
        gate.wait()
        gate.signal()
    }
}

extension BondStoreError {
    /// No space left on device.
    package static let diskFull = BondStoreError.system("write", path: "bonds", errno: 28)
}
