import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// Where a peer is asked for a connection.
public enum ConnectionRoute: Hashable, Sendable {
    /// It advertises, on one of these primary PHYs: it is listened for on all of them.
    case advertising(ScanPHYs)
    /// It is synchronized to periodic advertising of this host, and listens to this subevent of it (Core 5.4, Vol 3, Part C,
    /// 9.3.17).
    case subevent(Int, of: AdvertisingHandle)

    package var isSubevent: Bool {
        if case .subevent = self { true } else { false }
    }
}

extension Initiator {
    /// The private address under which a peer was seen a moment ago.
    struct Sighting: Hashable, Sendable {
        let address: DeviceAddress
        /// Until when to rely on the address.
        let end: Instant
    }

    struct Attempt: Hashable, Sendable {
        let identifier: ConnectionAttempt
        /// The peer, under the name the caller used.
        let peer: PeerID
        let deadline: Instant?
        let route: ConnectionRoute
        /// Where the peer was seen; nil if that was too long ago.
        private(set) var sighting: Sighting?
        /// How often the connection was reported and then failed to be established.
        private(set) var failures = 0

        init(identifier: ConnectionAttempt, peer: PeerID, deadline: Instant?, route: ConnectionRoute) {
            (self.identifier, self.peer, self.deadline, self.route) = (identifier, peer, deadline, route)
        }

        /// The peer was received.
        ///
        /// - Returns: whether its address was not known.
        mutating func noteSighting(_ sighting: Sighting) -> Bool {
            guard self.sighting == nil else { return false }
            self.sighting = sighting
            return true
        }

        /// Forgets an address that the peer may no longer use.
        mutating func expireSighting(at now: Instant) {
            if let sighting, sighting.end <= now { self.sighting = nil }
        }

        mutating func noteFailure() { failures += 1 }
    }

    /// A peer the controller listens for, or calls, and the address under which it does.
    struct Target: Hashable, Sendable {
        let peer: PeerID
        let address: DeviceAddress
        let route: ConnectionRoute

        /// The PHYs on which its advertising is listened for; nil where it is called in a subevent.
        var phys: ScanPHYs? {
            if case .advertising(let phys) = route { phys } else { nil }
        }
    }

    /// What to ask of the controller.
    struct Settings: Sendable {
        var ownAddressType: OwnAddressType
        var connectionParameters: ConnectionParameters
        /// How many entries the controller's filter accept list has.
        var acceptListSize: Int
        var radio: RadioFeatures
    }

    /// The command that listens for these peers, or calls the only one, legacy or extended (Vol 4, Part E, 7.8.12 and 7.8.66).
    func command(for targets: [Target], _ settings: Settings) -> any HCICommand {
        if case .subevent(let number, let set) = targets[0].route {
            // On which PHY it is called, the set says.
            let phys: ScanPHYs = settings.radio.phys.contains(.leCoded) ? [.le1M, .leCoded] : .le1M
            let connection = extendedCommand(for: targets, settings, listening: phys)
            return LEExtendedCreateConnectionV2(
                advertisingHandle: set, subevent: UInt8(clamping: number), connection: connection)
        }
        guard settings.radio.isExtended else {
            let interval = LESlots(clamping: Self.scanInterval)
            return LECreateConnection(
                scanInterval: interval, scanWindow: interval, filterPolicy: filterPolicy(for: targets),
                peerAddress: peerAddress(of: targets), ownAddressType: settings.ownAddressType,
                connectionParameters: LEConnectionParameters(settings.connectionParameters))
        }
        let phys = targets.reduce(ScanPHYs()) { $0.union($1.phys ?? []) }
        return extendedCommand(for: targets, settings, listening: phys)
    }

    private func extendedCommand(
        for targets: [Target], _ settings: Settings, listening phys: ScanPHYs
    ) -> LEExtendedCreateConnection {
        // One receiver listens on one PHY at a time.
        let share = phys.contains([.le1M, .leCoded]) ? Self.scanInterval / 2 : Self.scanInterval
        let each = LEExtendedCreateConnection.PHYParameters(
            scanInterval: LESlots(clamping: Self.scanInterval), scanWindow: LESlots(clamping: share),
            connectionParameters: LEConnectionParameters(settings.connectionParameters))
        return LEExtendedCreateConnection(
            filterPolicy: filterPolicy(for: targets), ownAddressType: settings.ownAddressType,
            peerAddress: peerAddress(of: targets), le1M: phys.contains(.le1M) ? each : nil,
            // There is no listening on it, but what is found on another one may ask to be connected to on it.
            le2M: settings.radio.phys.contains(.le2M) ? each : nil,
            leCoded: phys.contains(.leCoded) ? each : nil)
    }

    private func filterPolicy(for targets: [Target]) -> InitiatorFilterPolicy {
        targets.count > 1 ? .acceptList : .peerAddress
    }

    private func peerAddress(of targets: [Target]) -> DeviceAddress {
        targets.count > 1 ? DeviceAddress(0, kind: .public) : targets[0].address
    }
}

extension Initiator.Attempt {
    /// How the end of an attempt without a link is reported.
    func failed(_ error: HostError) -> Effect { .report(.controller(.connectionFailed(identifier, error))) }
}
