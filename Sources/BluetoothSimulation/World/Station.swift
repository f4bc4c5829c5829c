import BluetoothBase
import BluetoothHCI
import VirtualRadio

/// One controller of a world, with the wire to its host. It is the `PacketPort` to open an adapter on.
public struct Station: Sendable {
    public let world: World
    /// The number of the station in its world, from 0.
    public let index: Int

    /// A station as the world keeps it: an object, since it is large, and looked at for every packet.
    final class State {
        let controller: ControllerID
        let address: DeviceAddress
        /// The host on the controller.
        @exclusivity(unchecked) var host: (any PacketPortHost)?
        /// The host that has asked for a turn, which may have no transport at the moment.
        @exclusivity(unchecked) var requester: (any PacketPortHost)?
        @exclusivity(unchecked) var attachment: UInt64 = 0
        /// Whether the host has had a turn for its packets, and did not take them: it has no transport at the moment.
        @exclusivity(unchecked) var hasDeclined = false
        /// When the host wants its next turn.
        @exclusivity(unchecked) var deadline: Instant?
        /// Until then the host gets no turn, as a process that is suspended.
        @exclusivity(unchecked) var stalledUntil: Instant?
        /// What watches advertising after links that end at once, in worlds with hardship.
        @exclusivity(unchecked) var pace: AdvertisingPace?
        /// What happens once the host has received a packet of a kind.
        @exclusivity(unchecked) var traps: [(moment: Scenario.Fault.Moment, strike: () -> Void)] = []
        /// What is wrong with the wire.
        let wire: Wire
        @exclusivity(unchecked) var inspector: HCIInspector
        /// What watches keys and encryption, in worlds with security.
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
    /// Adds a controller, and the wire to its host.
    ///
    /// - Parameter configure: changes the controller's properties; by default it supports everything and has a public
    ///   address.
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

    /// How many stations there are.
    public var stationCount: Int { stations.count }
}

// MARK: - The port

extension Station: PacketPort {
    public var name: String { "station \(index)" }

    public var identity: AnyHashable { Identity(world: ObjectIdentifier(world), index: index) }

    private struct Identity: Hashable {
        let world: ObjectIdentifier
        let index: Int
    }

    public var isPluggedIn: Bool { world.air[world.stations[index].controller].isPresent }

    public var now: Instant { world.now }

    public var isTimeManual: Bool { true }

    /// The world gives its hosts their turns.
    public var nextDeadline: Instant? { nil }

    public func attach(_ host: any PacketPortHost) -> UInt64 {
        world.stations[index].attachment += 1
        let attachment = world.stations[index].attachment
        let former = world.stations[index].host
        world.stations[index].host = host
        world.stations[index].hasDeclined = false
        // What was for the host before is none of its business.
        world.air[world.stations[index].controller].outbox.removeAll()
        if former !== host { former?.displaced() }
        return attachment
    }

    public func detach(_ attachment: UInt64) {
        guard world.stations[index].attachment == attachment else { return }
        world.reset(index)
        world.stations[index].host = nil
    }

    public func send(_ packet: Span<UInt8>) { world.send(packet, from: index) }

    public func receive(into packets: inout PacketQueue) { world.receive(into: &packets, at: index) }

    public func requestTurn(of host: any PacketPortHost) {
        guard world.checkThread("a call was made from another thread: make calls in tasks of the world") else { return }
        world.stations[index].requester = host
        world.request(index)
    }
}
