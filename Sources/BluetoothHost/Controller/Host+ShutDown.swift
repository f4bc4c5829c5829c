import BluetoothBase

/// Shutting down a host before its controller is released.
extension Host {
    /// Disconnects every link, and stops every activity that may lead to another one. Peers then learn immediately that
    /// this device is gone, instead of waiting for their supervision timeout.
    ///
    /// A peer may still connect before advertising has stopped. Repeat the call after each packet until `isShutDown` is
    /// true. Repeated calls send nothing twice. The host keeps reporting its events.
    public mutating func shutDown(at now: Instant) {
        // Links are closed first, so that a controller that leaves another command unanswered does not delay them.
        for slot in links.slots where links.at[slot.index].isInUse { close(slot, .shutDown, at: now) }
        scanner.stop()
        for set in advertiser.sets { advertiser.stop(set.handle) }
        perform(initiator.abandon(.notReady), at: now)
        perform(synchronizer.abandon(.notReady), at: now)
        if lifecycle.isUp { advanceActivities(at: now) }
    }

    /// Whether the controller has a link, reported or not.
    public var hasLinks: Bool { !links.isEmpty }

    /// Whether the controller has no link, and no new link can begin.
    public var isShutDown: Bool {
        links.isEmpty && (!lifecycle.isUp || initiator.isIdle && !advertiser.acceptsConnections)
    }
}
