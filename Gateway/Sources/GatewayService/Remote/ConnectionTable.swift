import BluetoothLE
import GatewayPipeline
import Synchronization

/// The places for connections: whoever connects to devices takes one here, so there are no more of them than the
/// configuration allows, and each device has one owner.
public final class ConnectionTable: Sendable {
    /// Why there is no place.
    enum Refusal: Error, Equatable {
        /// As many connections as there may be.
        case full
        /// Somebody else has a connection to the device.
        case owned
    }

    private struct State {
        var taken: [DeviceAddress] = []
        var changed: @Sendable () -> Void = {}
    }

    public let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: connections at a time.
    public init(limit: Int) { self.limit = limit }

    /// Calls a function whenever places are taken or given back.
    func observe(_ changed: @escaping @Sendable () -> Void) { state.withLock { $0.changed = changed } }

    /// The devices that have a connection, or are about to, in the order in which that began.
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
