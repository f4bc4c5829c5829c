import BluetoothBase
import BluetoothHCI

/// Deadlines.
extension Host {
    /// When `fire(at:)` is to be called; nil while nothing is waited for.
    public var nextDeadline: Instant? {
        var deadline = earliest(commands.nextDeadline, initiator.nextDeadline)
        deadline = earliest(deadline, earliest(scanner.nextDeadline, advertiser.nextDeadline))
        deadline = earliest(deadline, privacy.nextDeadline)
        // Through a span: to take a link out of the array would copy it.
        let all = links.at.span
        for slot in all.indices where all[slot].isInUse { deadline = earliest(deadline, all[slot].nextDeadline) }
        return deadline
    }

    /// Lets everything happen that is due. Early calls do no harm.
    public mutating func fire(at now: Instant) {
        guard lifecycle.isUnderWay else { return }
        fireCommands(at: now)
        fireActivities(at: now)
        for slot in links.slots where links.at[slot].isInUse {
            guard let deadline = links.at[slot].nextDeadline, deadline <= now else { continue }
            fireLink(slot, at: now)
        }
    }
}
