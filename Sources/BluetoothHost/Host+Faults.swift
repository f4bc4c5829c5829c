import BluetoothBase
import BluetoothL2CAP

/// Counts faults, and decides by their scope how to react. Nothing else in the host does.
extension Host {
    /// Handles a fault that concerns no link, or a link that has ended.
    @inline(never)
    mutating func handle(_ fault: HostFault, at now: Instant) {
        faults.count(fault)
        if fault.scope == .controllerReset { controllerFailed(.malformedPacket, at: now) }
    }

    /// Handles a fault of a connection that has no link yet. The host disconnects it.
    @inline(never)
    mutating func handle(_ fault: HostFault, of connection: NewConnection, at now: Instant) {
        faults.count(fault)
        turnAway(connection, at: now)
    }

    /// Handles a fault of a link. A loss in its data stream is reported in order among the link's events.
    @inline(never)
    mutating func handle(_ fault: HostFault, of slot: LinkSlot, at now: Instant) {
        faults.count(fault)
        if let loss = fault.loss, links.at[slot.index].life.isAnnounced {
            events.append(.link(links.at[slot.index].identifier, .lost(loss)))
        }
        switch fault.scope {
        case .answered, .dropped: return
        // The credit-based channel has already closed itself.
        case .channelClosed: return
        case .linkEnded:
            if fault == .bearerExpired { drainClient(slot) }
            close(slot, fault == .bearerExpired ? .bearerExpired : .overwhelmed, at: now)
        case .controllerReset: controllerFailed(.malformedPacket, at: now)
        }
    }

    /// Handles a fault of an enhanced bearer that is still open. The host closes the bearer.
    @inline(never)
    mutating func handle(
        _ fault: HostFault, onBearer bearer: CreditBasedChannel.ID, of slot: LinkSlot, at now: Instant
    ) {
        faults.count(fault)
        closeBearer(bearer, slot, at: now)
    }
}

/// The number of occurrences of each fault since the host was created.
public struct HostFaultCounts: Equatable, Sendable {
    private var counts = [UInt64](repeating: 0, count: HostFault.allCases.count)

    /// The number of occurrences of one fault.
    public subscript(fault: HostFault) -> UInt64 { counts[fault.rawValue] }

    /// The number of faults of any kind that the host has ignored. Faults that ended a channel or a link are not
    /// included.
    public var dropped: UInt64 {
        HostFault.allCases.reduce(0) { $0 &+ ($1.scope == .dropped ? self[$1] : 0) }
    }

    fileprivate mutating func count(_ fault: HostFault) { counts[fault.rawValue] &+= 1 }
}
