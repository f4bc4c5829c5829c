import BluetoothBase
import BluetoothHCI

/// Deadlines.
extension Host {
    /// The time at which to call `fire(at:)`; nil while nothing is due, and while there is no controller.
    ///
    /// Mutating only to read the links in place.
    public var nextDeadline: Instant? {
        mutating get {
            // Without a controller `fire(at:)` does nothing, so a deadline that has passed would stay due forever.
            guard lifecycle.isUnderWay else { return nil }
            var deadline = earliest(commands.nextDeadline, initiator.nextDeadline)
            deadline = earliest(deadline, earliest(scanner.nextDeadline, advertiser.nextDeadline))
            deadline = earliest(deadline, synchronizer.nextDeadline)
            deadline = earliest(deadline, earliest(privacy.nextDeadline, unresolved.nextDeadline))
            for slot in links.slots where links.at[slot.index].isInUse {
                deadline = earliest(deadline, links.at[slot.index].nextDeadline)
            }
            return deadline
        }
    }

    /// Performs everything that is due. Calling it early is harmless.
    public mutating func fire(at now: Instant) {
        guard lifecycle.isUnderWay else { return }
        fireCommands(at: now)
        fireActivities(at: now)
        if !unresolved.isEmpty { fireResolving(at: now) }
        fireSynchronizing(at: now)
        for slot in links.slots where links.at[slot.index].isInUse {
            guard let deadline = links.at[slot.index].nextDeadline, deadline <= now else { continue }
            fireLink(slot, at: now)
        }
    }
}
