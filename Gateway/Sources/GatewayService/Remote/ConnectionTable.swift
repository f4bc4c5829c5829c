import BluetoothLE
import GatewayPipeline
import Synchronization

/// The places for connections. Every connection to a device takes a place here, so that the limit in the configuration
/// is respected and each device has one owner.
public final class ConnectionTable: Sendable {
    /// The reason why a place is refused.
    enum Refusal: Error, Equatable {
        /// The maximum number of connections is reached.
        case full
        /// The device already has a connection with another owner.
        case owned
    }

    private struct State {
        var taken: [DeviceAddress] = []
        var changed: @Sendable () -> Void = {}
    }

    /// The maximum number of simultaneous connections.
    public let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: the maximum number of simultaneous connections.
    public init(limit: Int) { self.limit = limit }

    /// Calls a function whenever places are taken or returned.
    func observe(_ changed: @escaping @Sendable () -> Void) { state.withLock { $0.changed = changed } }

    /// The devices that are connected or about to be, in the order in which they took their places.
    var taken: [DeviceAddress] { state.withLock { $0.taken } }

    func take(_ device: DeviceAddress) throws(Refusal) {
        let changed = try state.withLock { state throws(Refusal) in
            guard !state.taken.contains(device.plain) else { throw .owned }
            guard state.taken.count < limit else { throw .full }
            state.taken.append(device.plain)
            return state.changed
        }
        changed()
    }

    func giveBack(_ device: DeviceAddress) {
        let changed = state.withLock { state in
            state.taken.removeAll { $0 == device.plain }
            return state.changed
        }
        changed()
    }
}
