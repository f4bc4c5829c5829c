import BluetoothBase
import BluetoothHCI

extension Initiator {
    struct Attempt: Sendable {
        let identifier: ConnectionAttempt
        /// The peer, under the name the caller used.
        let peer: PeerID
        let deadline: Instant?
        /// The private address under which the peer was seen a moment ago, and until when to rely on that.
        var sighting: (address: DeviceAddress, until: Instant)?
        /// How often the connection was reported and then failed to be established.
        var failures = 0
    }

    /// A peer the controller listens for, and the address under which it does.
    struct Target: Equatable, Sendable {
        let peer: PeerID
        let address: DeviceAddress
    }

    /// What to ask of the controller.
    struct Settings: Sendable {
        var ownAddressType: OwnAddressType
        var connectionParameters: ConnectionParameters
        /// How many entries the controller's filter accept list has.
        var acceptListSize: Int
    }
}

extension Initiator.Attempt {
    /// How the end of an attempt without a link is reported.
    func failed(_ error: HostError) -> Effect { .report(.controller(.connectionFailed(identifier, error))) }
}
