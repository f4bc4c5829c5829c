import BluetoothBase

/// Injects faults between a host and its controller. The faults are drawn from a seed, so the same seed, packets and
/// times produce the same faults.
///
/// Pass each packet to `receive`. Packets that are due are added to the queues `toHost` and `toController`. The type
/// has no clock: the caller passes the time to every call, and calls `fire` at `nextDeadline`.
///
///     var faults = HCIFaults(.badWeather, seed: 7)
///     if case .passed = faults.receive(packet, to: .host, at: now) {
///         deliver(packet)
///     }
///     while let packet = faults.toHost.popFirst() { deliver(packet.span) }
///
/// A packet that is not affected, and that is not queued behind others, costs one random number and no copy.
public struct HCIFaults: Sendable {
    /// The result of receiving a packet.
    public enum Outcome: Equatable, Sendable {
        /// The packet is unchanged. Forward it now.
        case passed
        /// The packet was taken. Unless it is lost, it is added to the queue of its receiver, now or later. The
        /// associated value is the fault that was applied, or nil if the packet is only queued behind others.
        case taken(HCIFault?)
    }

    /// The rates of faults. `.none` ends the faults; packets held at that time are still delivered.
    public var rates: HCIFaultRates { didSet { odds = FaultOdds(rates) } }
    /// The packets for the host that are due. Empty this queue after each call.
    public var toHost = PacketQueue(reservingCapacity: 0)
    /// The packets for the controller that are due. Empty this queue after each call.
    public var toController = PacketQueue(reservingCapacity: 0)

    private var odds: FaultOdds
    var generator: SeededGenerator
    private var held = HeldPackets()
    /// The times until which events, commands and data are stalled in each direction.
    private var stalls = Stalls()
    /// Whether the next answer to Reset belongs to a Reset that this type has sent.
    var isResetting = false

    /// Creates an injector whose faults are drawn from `seed` at the given rates.
    public init(_ rates: HCIFaultRates = .badWeather, seed: UInt64) {
        self.rates = rates
        odds = FaultOdds(rates)
        generator = SeededGenerator(seed: seed)
    }

    /// Returns an instance with the same rates and a new seed, drawn from this instance. Use it to create an instance
    /// for each of several transports.
    public mutating func another() -> HCIFaults { HCIFaults(rates, seed: generator.next()) }

    /// The packets for one side that are due.
    public subscript(receiver: H4Framer.Receiver) -> PacketQueue {
        @inline(__always) get { receiver == .host ? toHost : toController }
        @inline(__always) _modify {
            if receiver == .host { yield &toHost } else { yield &toController }
        }
    }

    // MARK: - Time

    /// The time at which to call `fire`; nil while no packet is held.
    public var nextDeadline: Instant? { held.nextDeadline }

    /// Moves each held packet whose time has come to the queue of its receiver.
    public mutating func fire(at now: Instant) {
        while let (packet, receiver) = held.popFirst(at: now) {
            self[receiver].append(packet.span)
        }
    }

    // MARK: - Packets

    /// The maximum number of held packets. Beyond that, the earliest packets are released early.
    public static var maximumHeldPackets: Int { HeldPackets.maximumCount }
    /// The maximum total length of the held packets, in octets. Beyond that, the earliest packets are released early.
    public static var maximumHeldOctets: Int { HeldPackets.maximumOctets }

    /// Whether a packet can be held without releasing another one early. A caller that can postpone further packets
    /// should do so while this is false.
    public var hasRoom: Bool { !held.isFull && max(toHost.count, toController.count) < HeldPackets.maximumCount }

    /// Processes a packet, which starts with its H4 indicator.
    public mutating func receive(_ packet: Span<UInt8>, to receiver: H4Framer.Receiver, at now: Instant) -> Outcome {
        if !held.isEmpty { fire(at: now) }
        let concern = FaultOdds.Concern(packet, to: receiver)
        if isResetting, concern == .answer, HCIFault.Packet(packet) == .answer(.reset) {
            isResetting = false
            return .taken(nil)
        }
        guard let kind = odds.draw(for: concern, from: &generator) else {
            return pass(packet, to: receiver, at: now)
        }
        var fault = HCIFault(kind: kind, packet: HCIFault.Packet(packet), receiver: receiver)
        suffer(&fault, packet, at: now)
        return .taken(fault)
    }

    /// Discards all held packets. Call this when the host has disconnected or the controller was unplugged.
    public mutating func removeAll() {
        held.removeAll()
        toHost.removeAll()
        toController.removeAll()
        stalls = Stalls()
        isResetting = false
    }

    private mutating func pass(_ packet: Span<UInt8>, to receiver: H4Framer.Receiver, at now: Instant) -> Outcome {
        let isFree = stalls[receiver, isData: packet.isData] <= now && rates.latency == .zero
        let isFirst = self[receiver].isEmpty
        if isFree, isFirst { return .passed }
        enqueue(Array(packet), to: receiver, at: now)
        return .taken(nil)
    }

    // MARK: - Used by the faults

    /// Queues a packet behind those of its kind. With a delay, packets that are due earlier overtake it.
    mutating func enqueue(
        _ packet: [UInt8], to receiver: H4Framer.Receiver, at now: Instant, after delay: Duration = .zero
    ) {
        let stall = stalls[receiver, isData: packet.span.isData]
        held.add(packet, to: receiver, due: max(stall, now.advanced(by: rates.latency)).advanced(by: delay))
        fire(at: now)
    }

    /// Stalls the packets to a receiver: data, everything else, or all of them.
    mutating func stall(_ receiver: H4Framer.Receiver, isData: Bool?, for duration: Duration, at now: Instant) {
        let end = now.advanced(by: duration)
        for way in [false, true] where isData ?? way == way {
            stalls[receiver, isData: way] = max(stalls[receiver, isData: way], end)
        }
    }
}

/// The times until which traffic to the host and the controller is stalled, separately for data and for everything
/// else.
private struct Stalls {
    private var ends = InlineArray<4, Instant>(repeating: .zero)

    subscript(receiver: H4Framer.Receiver, isData isData: Bool) -> Instant {
        get { ends[(receiver == .host ? 2 : 0) + (isData ? 1 : 0)] }
        set { ends[(receiver == .host ? 2 : 0) + (isData ? 1 : 0)] = newValue }
    }
}

extension Span<UInt8> {
    /// Whether a packet is stalled together with data.
    fileprivate var isData: Bool { !isEmpty && self[0] == HCIPacketType.aclData.rawValue }
}
