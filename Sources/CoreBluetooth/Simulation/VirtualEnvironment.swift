import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import Crypto
import Foundation

/// What applications in a simulated world have in place of the machine's: an adapter, queues, a clock and identifiers
/// that follow from a seed. No state is kept from run to run, so restore identifiers have no effect.
///
/// Everything is used on the world's thread.
package final class VirtualEnvironment: Sendable {
    /// Called for the queue of a manager: what takes the place of that of Dispatch, or of the main queue if nil.
    package typealias Queues = @Sendable (DispatchQueue?) -> any VirtualQueue

    let adapter: SharedAdapter
    let identities: PeerIdentities
    private let queues: Queues
    private let runner: AdapterRunner

    /// - Parameters:
    ///   - runner: the adapter, which is not closed here.
    ///   - adapterQueue: where managers join it and leave.
    ///   - seed: what the identifiers of peers come from.
    package init(_ runner: AdapterRunner, adapterQueue: any VirtualQueue, seed: UInt64, queues: @escaping Queues) {
        adapter = SharedAdapter(runner, on: adapterQueue)
        identities = PeerIdentities(key: SymmetricKey(data: [seed, ~seed].withUnsafeBytes { Data($0) }))
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

    /// The world begins with 2001.
    var now: CFAbsoluteTime { CFAbsoluteTime(runner.now.nanoseconds) / 1_000_000_000 }
}
