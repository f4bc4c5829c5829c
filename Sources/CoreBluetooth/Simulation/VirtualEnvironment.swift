import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import Foundation

/// The environment of applications in a simulated world: an adapter, queues and a clock in place of the machine's, and
/// identifiers that are derived from a seed. No state is kept from run to run, so restore identifiers have no effect.
///
/// Everything is used on the world's thread.
package final class VirtualEnvironment: Sendable {
    /// Returns the queue that replaces a manager's queue of Dispatch, or the main queue if nil.
    package typealias Queues = @Sendable (DispatchQueue?) -> any VirtualQueue

    let adapter: SharedAdapter
    let identities: PeerIdentities
    private let queues: Queues
    private let runner: AdapterRunner

    /// - Parameters:
    ///   - runner: the adapter, which is not closed here.
    ///   - adapterQueue: the queue on which managers join and leave the adapter.
    ///   - seed: the seed of the identifiers of peers.
    package init(_ runner: AdapterRunner, adapterQueue: any VirtualQueue, seed: UInt64, queues: @escaping Queues) {
        adapter = SharedAdapter(runner, on: adapterQueue)
        identities = PeerIdentities(key: Speck128.Block(left: seed, right: ~seed))
        self.queues = queues
        self.runner = runner
    }

    /// Runs `body`, in which an application creates its managers.
    package func with<Value>(_ body: () throws -> Value) rethrows -> Value {
        try BluetoothEnvironment.$virtual.withValue(self, operation: body)
    }

    /// The identifier by which applications in this environment know a peer.
    package func identifier(for address: DeviceAddress) -> UUID { identities.identifier(for: PeerID(address)) }

    func queue(_ queue: DispatchQueue?) -> any VirtualQueue { queues(queue) }

    /// The world's time starts at the beginning of 2001.
    var now: CFAbsoluteTime { runner.virtualTime }
}

extension AdapterRunner {
    /// The time of the simulated world to which the adapter belongs, for timestamps.
    var virtualTime: CFAbsoluteTime { CFAbsoluteTime(now.nanoseconds) / 1_000_000_000 }
}
