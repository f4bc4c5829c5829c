import BluetoothBase
import BluetoothL2CAP

/// The one place that counts faults, and that decides by their scope what follows.
extension Host {
    /// A fault that concerns no link, or one that has ended.
    @inline(never)
    mutating func handle(_ fault: HostFault, at now: Instant) {
        faults.count(fault)
        if fault.scope == .controllerReset { controllerFailed(.malformedPacket, at: now) }
    }

    /// A fault of a connection that has no link yet: the host ends it.
    @inline(never)
    mutating func handle(_ fault: HostFault, of connection: NewConnection, at now: Instant) {
        faults.count(fault)
        turnAway(connection, at: now)
    }

    /// A fault of a link. A loss in its stream is reported in its place among the link's events.
    @inline(never)
    mutating func handle(_ fault: HostFault, of slot: LinkSlot, at now: Instant) {
        faults.count(fault)
        if let loss = fault.loss, links.at[slot.index].life.isAnnounced {
            events.append(.link(links.at[slot.index].identifier, .lost(loss)))
        }
        switch fault.scope {
        case .answered, .dropped: return
        // A credit-based channel has closed by itself.
        case .channelClosed: return
        case .linkEnded:
            if fault == .bearerExpired { drainClient(slot) }
            close(slot, fault == .bearerExpired ? .bearerExpired : .overwhelmed, at: now)
        case .controllerReset: controllerFailed(.malformedPacket, at: now)
        }
    }

    /// A fault of an enhanced bearer that is still open: the host closes it.
    @inline(never)
    mutating func handle(
        _ fault: HostFault, onBearer bearer: CreditBasedChannel.ID, of slot: LinkSlot, at now: Instant
    ) {
        faults.count(fault)
        closeBearer(bearer, slot, at: now)
    }
}

/// How often each fault has occurred since the host was made.
public struct HostFaultCounts: Equatable, Sendable {
    private var counts = [UInt64](repeating: 0, count: HostFault.allCases.count)

    /// The count of one fault.
    public subscript(fault: HostFault) -> UInt64 { counts[fault.rawValue] }

    /// How many faults of any kind the host has ignored. Those that ended a channel or a link are not among them.
    public var dropped: UInt64 {
        HostFault.allCases.reduce(0) { $0 &+ ($1.scope == .dropped ? self[$1] : 0) }
    }

    fileprivate mutating func count(_ fault: HostFault) { counts[fault.rawValue] &+= 1 }
}
