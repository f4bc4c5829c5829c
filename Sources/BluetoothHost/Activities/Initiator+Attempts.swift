import BluetoothBase
import BluetoothGAP
import BluetoothHCI

extension Initiator {
    struct Attempt: Sendable {
        let identifier: ConnectionAttempt
        /// The peer, under the name the caller used.
        let peer: PeerID
        let deadline: Instant?
        /// On which primary PHYs to listen for it.
        let phys: ScanPHYs
        /// The private address under which the peer was seen a moment ago, and until when to rely on that.
        var sighting: (address: DeviceAddress, until: Instant)?
        /// How often the connection was reported and then failed to be established.
        var failures = 0
    }

    /// A peer the controller listens for, and the address under which it does.
    struct Target: Equatable, Sendable {
        let peer: PeerID
        let address: DeviceAddress
        let phys: ScanPHYs
    }

    /// What to ask of the controller.
    struct Settings: Sendable {
        var ownAddressType: OwnAddressType
        var connectionParameters: ConnectionParameters
        /// How many entries the controller's filter accept list has.
        var acceptListSize: Int
        var radio: RadioFeatures
    }

    /// The command that listens for these peers, legacy or extended (Vol 4, Part E, 7.8.12 and 7.8.66).
    func command(for targets: [Target], _ settings: Settings) -> any HCICommand {
        let interval = LESlots(clamping: Self.scanInterval)
        let filterPolicy: InitiatorFilterPolicy = targets.count > 1 ? .acceptList : .peerAddress
        let peerAddress = targets.count > 1 ? DeviceAddress(0, kind: .public) : targets[0].address
        let connectionParameters = LEConnectionParameters(settings.connectionParameters)
        guard settings.radio.isExtended else {
            return LECreateConnection(
                scanInterval: interval, scanWindow: interval, filterPolicy: filterPolicy, peerAddress: peerAddress,
                ownAddressType: settings.ownAddressType, connectionParameters: connectionParameters)
        }
        let phys = targets.reduce(ScanPHYs()) { $0.union($1.phys) }
        // One receiver listens on one PHY at a time.
        let share = phys.contains([.le1M, .leCoded]) ? Self.scanInterval / 2 : Self.scanInterval
        let each = LEExtendedCreateConnection.PHYParameters(
            scanInterval: interval, scanWindow: LESlots(clamping: share), connectionParameters: connectionParameters)
        return LEExtendedCreateConnection(
            filterPolicy: filterPolicy, ownAddressType: settings.ownAddressType, peerAddress: peerAddress,
            le1M: phys.contains(.le1M) ? each : nil,
            // There is no listening on it, but what is found on another one may ask to be connected to on it.
            le2M: settings.radio.phys.contains(.le2M) ? each : nil,
            leCoded: phys.contains(.leCoded) ? each : nil)
    }
}

extension Initiator.Attempt {
    /// How the end of an attempt without a link is reported.
    func failed(_ error: HostError) -> Effect { .report(.controller(.connectionFailed(identifier, error))) }
}
