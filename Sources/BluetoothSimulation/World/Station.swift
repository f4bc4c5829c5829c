import BluetoothBase
import BluetoothHCI
import VirtualRadio

/// One controller of a world and the wire to its host. It is the `PacketPort` on which to open an adapter.
public struct Station: Sendable {
    /// The world that the station belongs to.
    public let world: World
    /// The number of the station in its world, from 0.
    public let index: Int

    /// The state of a station. A class, because it is large and accessed for every packet.
    final class State {
        let controller: ControllerID
        let address: DeviceAddress
        /// The host on the controller.
        @exclusivity(unchecked) var host: (any PacketPortHost)?
        /// The host that requested a turn, which may have no transport at the moment.
        @exclusivity(unchecked) var requester: (any PacketPortHost)?
        @exclusivity(unchecked) var attachment: UInt64 = 0
        /// Whether the host had a turn for its packets and did not take them, because it has no transport at the
        /// moment.
        @exclusivity(unchecked) var hasDeclined = false
        /// The time of the host's next turn.
        @exclusivity(unchecked) var deadline: Instant?
        /// The host gets no turn until this time, like a suspended process.
        @exclusivity(unchecked) var stalledUntil: Instant?
        /// Checks the pace of advertising after links that end immediately, in worlds with hardship.
        @exclusivity(unchecked) var pace: AdvertisingPace?
        /// Actions to perform once the host has received a packet of a kind.
        @exclusivity(unchecked) var traps: [(moment: Scenario.Fault.Moment, strike: () -> Void)] = []
        /// The faults of the wire.
        let wire: Wire
        @exclusivity(unchecked) var inspector: HCIInspector
        /// Checks keys and encryption, in worlds with security.
        @exclusivity(unchecked) var security: SecurityInspector?

        init(_ controller: ControllerID, _ configuration: ControllerConfiguration, seed: UInt64) {
            self.controller = controller
            address = configuration.publicAddress
            wire = Wire(seed: seed)
            inspector = HCIInspector(
                bufferCount: Int(configuration.aclBufferCount), bufferLength: Int(configuration.aclDataLength))
        }

        func nextDeadline(after now: Instant) -> Instant? {
            let next = earliest(deadline, wire.nextDeadline)
            guard let stalledUntil, stalledUntil > now, let next else { return next }
            return max(next, stalledUntil)
        }

        func isDue(at now: Instant) -> Bool { nextDeadline(after: now).map { $0 <= now } ?? false }
    }
}

extension World {
    /// Adds a controller and the wire to its host.
    ///
    /// - Parameter configure: changes the controller's properties. By default, `ControllerConfiguration` applies, with
    ///   a unique public address.
    public func addStation(_ configure: (inout ControllerConfiguration) -> Void = { _ in }) -> Station {
        let index = stations.count
        let address = DeviceAddress(0x00_1B_DC_00_00_01 + UInt64(index), kind: .public)
        var configuration = ControllerConfiguration(publicAddress: address)
        configure(&configuration)
        let controller = air.addController(configuration)
        stations.append(Station.State(controller, configuration, seed: order.next()))
        return Station(world: self, index: index)
    }

    /// The station with a number.
    public func station(_ index: Int) -> Station { Station(world: self, index: index) }

    /// The number of stations.
    public var stationCount: Int { stations.count }
}

// MARK: - The port

extension Station: PacketPort {
    /// The number of the station, such as `station 0`.
    public var name: String { "station \(index)" }

    /// The world and the number of the station, so that copies of a station have equal identities.
    public var identity: AnyHashable { Identity(world: ObjectIdentifier(world), index: index) }

    private struct Identity: Hashable {
        let world: ObjectIdentifier
        let index: Int
    }

    /// Whether the controller is present. A fault can unplug it for a while.
    public var isPluggedIn: Bool { world.air[world.stations[index].controller].isPresent }

    /// The current virtual time of the world.
    public var now: Instant { world.now }

    /// True, because time passes only while the world runs.
    public var isTimeManual: Bool { true }

    /// Nil, because the world gives its hosts their turns.
    public var nextDeadline: Instant? { nil }

    /// Attaches a host. It replaces and notifies the previous host, whose pending packets are discarded.
    ///
    /// - Returns: an identifier to pass to `detach`.
    public func attach(_ host: any PacketPortHost) -> UInt64 {
        world.stations[index].attachment += 1
        let attachment = world.stations[index].attachment
        let former = world.stations[index].host
        world.stations[index].host = host
        world.stations[index].hasDeclined = false
        // Discard packets meant for the previous host.
        world.air[world.stations[index].controller].outbox.removeAll()
        if former !== host { former?.displaced() }
        return attachment
    }

    /// Detaches a host and resets the controller. Does nothing if another host has already replaced it.
    public func detach(_ attachment: UInt64) {
        guard world.stations[index].attachment == attachment else { return }
        world.reset(index)
        world.stations[index].host = nil
    }

    /// Sends a packet to the controller, H4 indicator first. The world checks it, and applies the wire's faults.
    public func send(_ packet: Span<UInt8>) { world.send(packet, from: index) }

    /// Takes the packets that the controller has for its host; only one packet per call while the wire has faults.
    public func receive(into packets: inout PacketQueue) { world.receive(into: &packets, at: index) }

    /// Requests a turn for a host, which gets it when the world runs. A request from another thread is ignored, and is
    /// a violation of the rule `escaped`.
    public func requestTurn(of host: any PacketPortHost) {
        guard world.checkThread("a call was made from another thread: make calls in tasks of the world") else { return }
        world.stations[index].requester = host
        world.request(index)
    }
}
