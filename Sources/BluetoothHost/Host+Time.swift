import BluetoothBase
import BluetoothHCI

/// Deadlines.
extension Host {
    /// When `fire(at:)` is to be called; nil while nothing is waited for, and while there is no controller.
    ///
    /// Mutating only to read the links in place.
    public var nextDeadline: Instant? {
        mutating get {
            // Then nothing is done either, and a deadline that has passed would be due for ever.
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

    /// Lets everything happen that is due. Early calls do no harm.
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
