import BluetoothBase
import BluetoothGAP
import BluetoothHCI

/// How a connection to a peer is initiated.
public enum ConnectionRoute: Hashable, Sendable {
    /// The peer advertises. The controller listens on all of these primary PHYs.
    case advertising(ScanPHYs)
    /// The peer is synchronized to periodic advertising of this host, and listens to this subevent (Core 5.4, Vol 3,
    /// Part C, 9.3.17).
    case subevent(Int, of: AdvertisingHandle)

    package var isSubevent: Bool {
        if case .subevent = self { true } else { false }
    }
}

extension Initiator {
    /// A private address with which a peer was recently received.
    struct Sighting: Hashable, Sendable {
        let address: DeviceAddress
        /// The time until which the address is usable.
        let end: Instant
    }

    struct Attempt: Hashable, Sendable {
        let identifier: ConnectionAttempt
        /// The peer's identifier, as the caller passed it.
        let peer: PeerID
        let deadline: Instant?
        let route: ConnectionRoute
        /// The peer's latest private address; nil if none was received recently.
        private(set) var sighting: Sighting?
        /// The number of connections that were reported, but failed to be established.
        private(set) var failures = 0

        init(identifier: ConnectionAttempt, peer: PeerID, deadline: Instant?, route: ConnectionRoute) {
            (self.identifier, self.peer, self.deadline, self.route) = (identifier, peer, deadline, route)
        }

        /// Records that the peer was received.
        ///
        /// - Returns: whether its address was unknown.
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

    /// A peer that the controller is trying to connect to, and the address it uses for that.
    struct Target: Hashable, Sendable {
        let peer: PeerID
        let address: DeviceAddress
        let route: ConnectionRoute

        /// The PHYs on which the controller listens for the peer's advertising; nil if it connects in a subevent.
        var phys: ScanPHYs? {
            if case .advertising(let phys) = route { phys } else { nil }
        }
    }

    /// The parameters of a connection attempt.
    struct Settings: Sendable {
        var ownAddressType: OwnAddressType
        var connectionParameters: ConnectionParameters
        /// The size of the controller's filter accept list.
        var acceptListSize: Int
        var radio: RadioFeatures
    }

    /// The command that initiates a connection to these peers, legacy or extended (Vol 4, Part E, 7.8.12 and 7.8.66).
    /// In a subevent there is only one peer.
    func command(for targets: [Target], _ settings: Settings) -> any HCICommand {
        if case .subevent(let number, let set) = targets[0].route {
            // The advertising set determines the PHY, so parameters are given for each PHY that it may use.
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
        // A receiver listens on one PHY at a time.
        let share = phys.contains([.le1M, .leCoded]) ? Self.scanInterval / 2 : Self.scanInterval
        let each = LEExtendedCreateConnection.PHYParameters(
            scanInterval: LESlots(clamping: Self.scanInterval), scanWindow: LESlots(clamping: share),
            connectionParameters: LEConnectionParameters(settings.connectionParameters))
        return LEExtendedCreateConnection(
            filterPolicy: filterPolicy(for: targets), ownAddressType: settings.ownAddressType,
            peerAddress: peerAddress(of: targets), le1M: phys.contains(.le1M) ? each : nil,
            // The controller does not listen on LE 2M, but an advertiser found on another PHY may request a connection
            // on it.
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
    /// The event that reports the end of an attempt without a link.
    func failed(_ error: HostError) -> Effect { .report(.controller(.connectionFailed(identifier, error))) }
}
