import BluetoothBase

/// Faults between a host and its controller, drawn from a seed: the same seed, packets and times give the same faults.
///
/// It stands where packets pass. Those that come are given to `receive`; those that are due are in `toHost` and
/// `toController`. There is no clock: time comes with every call, and `nextDeadline` says when to call `fire`.
///
///     var faults = HCIFaults(.badWeather, seed: 7)
///     if case .passed = faults.receive(packet, to: .host, at: now) {
///         deliver(packet)
///     }
///     while let packet = faults.toHost.popFirst() { deliver(packet.span) }
///
/// A packet that nothing happens to, and that has none to wait for, costs one random number and no copy.
public struct HCIFaults: Sendable {
    /// What is to be done with a packet.
    public enum Outcome: Equatable, Sendable {
        /// Pass it on as it is, now.
        case passed
        /// It was taken. What is left of it is in the queue of its receiver, now or later. The fault is what befell it;
        /// nil if it only stands behind others.
        case taken(HCIFault?)
    }

    /// How often faults happen. They end with `.none`: what is held then still comes.
    public var rates: HCIFaultRates { didSet { odds = FaultOdds(rates) } }
    /// The packets for the host that are due. To be emptied after each call.
    public var toHost = PacketQueue(reservingCapacity: 0)
    /// The packets for the controller that are due. To be emptied after each call.
    public var toController = PacketQueue(reservingCapacity: 0)

    private var odds: FaultOdds
    var generator: SeededGenerator
    private var held = HeldPackets()
    /// Until when events, commands and data each wait, in each direction.
    private var stalls = Stalls()
    /// Whether the next answer to Reset is to a Reset of ours.
    var isResetting = false

    public init(_ rates: HCIFaultRates = .badWeather, seed: UInt64) {
        self.rates = rates
        odds = FaultOdds(rates)
        generator = SeededGenerator(seed: seed)
    }

    /// Faults at the same rates, from a seed that is drawn here: for one after the other of several transports.
    public mutating func another() -> HCIFaults { HCIFaults(rates, seed: generator.next()) }

    /// The packets for one end that are due.
    public subscript(receiver: H4Framer.Receiver) -> PacketQueue {
        @inline(__always) get { receiver == .host ? toHost : toController }
        @inline(__always) _modify {
            if receiver == .host { yield &toHost } else { yield &toController }
        }
    }

    // MARK: - Time

    /// When to call `fire`; nil while nothing is held.
    public var nextDeadline: Instant? { held.nextDeadline }

    /// Moves the packets that are due to the queues.
    public mutating func fire(at now: Instant) {
        while let (packet, receiver) = held.popFirst(at: now) {
            self[receiver].append(packet.span)
        }
    }

    // MARK: - Packets

    /// How many packets, and how many octets of them, may wait. Beyond that the oldest go before their time.
    public static var maximumHeldPackets: Int { HeldPackets.maximumCount }
    public static var maximumHeldOctets: Int { HeldPackets.maximumOctets }

    /// Whether a packet can be held without another one having to go before its time. Who can wait with the next packets
    /// should.
    public var hasRoom: Bool { !held.isFull && max(toHost.count, toController.count) < HeldPackets.maximumCount }

    /// Takes a packet on its way, H4 indicator first.
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

    /// Forgets what is held: for a host that has left, or a controller that was unplugged.
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

    // MARK: - For the faults

    /// Puts a packet behind those of its kind; with a delay, only behind those that come before its end.
    mutating func enqueue(
        _ packet: [UInt8], to receiver: H4Framer.Receiver, at now: Instant, after delay: Duration = .zero
    ) {
        let stall = stalls[receiver, isData: packet.span.isData]
        held.add(packet, to: receiver, due: max(stall, now.advanced(by: rates.latency)).advanced(by: delay))
        fire(at: now)
    }

    /// Holds up what is on its way to a receiver: data, everything else, or all of it.
    mutating func stall(_ receiver: H4Framer.Receiver, isData: Bool?, for duration: Duration, at now: Instant) {
        let end = now.advanced(by: duration)
        for way in [false, true] where isData ?? way == way {
            stalls[receiver, isData: way] = max(stalls[receiver, isData: way], end)
        }
    }
}

/// Until when the ways to host and controller are held up, each with one way for data and one for the rest.
private struct Stalls {
    private var ends = InlineArray<4, Instant>(repeating: .zero)

    subscript(receiver: H4Framer.Receiver, isData isData: Bool) -> Instant {
        get { ends[(receiver == .host ? 2 : 0) + (isData ? 1 : 0)] }
        set { ends[(receiver == .host ? 2 : 0) + (isData ? 1 : 0)] = newValue }
    }
}

extension Span<UInt8> {
    /// Whether a packet takes the way of data.
    fileprivate var isData: Bool { !isEmpty && self[0] == HCIPacketType.aclData.rawValue }
}
