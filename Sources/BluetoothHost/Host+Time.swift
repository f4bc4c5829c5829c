import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothL2CAP

/// Deadlines.
extension Host {
    /// When `fire(at:)` is to be called; nil while nothing is waited for.
    public var nextDeadline: Instant? {
        var deadline = earliest(commands.nextDeadline, initiator.nextDeadline)
        deadline = earliest(deadline, scanner.watchdog.deadline)
        for slot in links.used { deadline = earliest(deadline, links.at[slot].nextDeadline) }
        return deadline
    }

    /// Lets everything happen that is due. Early calls do no harm.
    public mutating func fire(at now: Instant) {
        guard bringUp.isUnderWay else { return }
        fireCommands(at: now)
        fireScanning(at: now)
        fireConnecting(at: now)
        for slot in links.slots where links.at[slot].isInUse {
            guard let deadline = links.at[slot].nextDeadline, deadline <= now else { continue }
            fireLink(slot, at: now)
        }
    }

    private mutating func fireLink(_ slot: Int, at now: Instant) {
        if let deadline = links.at[slot].disconnectDeadline, deadline <= now {
            // The controller never said that the link is gone. It has had the time to notice.
            let reason =
                links.at[slot].isEstablished
                ? HCIStatus.connectionTerminatedByLocalHost : .connectionFailedToBeEstablished
            let hasBuffers = flow.abandonLink(links.at[slot].handle)
            removeLink(slot, reason: reason, at: now)
            return hasBuffers ? linkRemoved(at: now) : recover(from: .commandTimedOut(.disconnect), at: now)
        }
        if let deadline = links.at[slot].establishmentDeadline, deadline <= now { establish(slot, at: now) }
        if let deadline = links.at[slot].update?.deadline, deadline <= now { endUpdate(slot, .timedOut) }
        while let channel = links.at[slot].endpoint.dueChannel(at: now) {
            openFrame()
            let outcome = links.at[slot].endpoint.fire(channel, server: server, at: now, into: &outbox.writer)
            closeFrame(slot, .attributeProtocol)
            handle(outcome, Span<UInt8>(), slot, at: now)
        }
        signallingStepped(links.at[slot].signalling.fire(at: now), slot, at: now)
    }
}
