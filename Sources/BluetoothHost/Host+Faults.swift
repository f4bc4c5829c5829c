import BluetoothBase

/// What follows from something wrong. The one place where that is decided, by the scope of the fault.
extension Host {
    /// A fault that concerns no link.
    @inline(never)
    mutating func handle(_ fault: HostFault, at now: Instant) {
        faults.count(fault)
        if fault.scope == .controllerReset { controllerFailed(.malformedPacket, at: now) }
    }

    /// A fault of a link. A loss in its stream is reported in its place among the link's events.
    @inline(never)
    mutating func handle(_ fault: HostFault, of slot: LinkTable.Slot, at now: Instant) {
        faults.count(fault)
        if let loss = fault.loss, links.at[slot].life.isAnnounced {
            events.append(.link(links.at[slot].identifier, .lost(loss)))
        }
        switch fault.scope {
        case .answered, .dropped: return
        case .channelClosed:
            // A credit-based channel goes by itself. Without the fixed channel for ATT a link is of no use.
            guard fault == .bearerExpired else { return }
            drainClient(slot)
            close(slot, .bearerExpired, at: now)
        case .linkEnded: close(slot, .overwhelmed, at: now)
        case .controllerReset: controllerFailed(.malformedPacket, at: now)
        }
    }
}
