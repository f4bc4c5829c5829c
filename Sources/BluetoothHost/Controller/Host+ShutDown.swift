import BluetoothBase

/// The end of a host's use of its controller.
extension Host {
    /// Disconnects every link, and stops everything that may lead to another one. Peers then learn at once that this device is
    /// gone, and not by their supervision timeout.
    ///
    /// A peer may still have connected before advertising stopped. Therefore the caller repeats this after each packet, until
    /// `isShutDown`. Repeating it sends nothing twice. The host reports its events as always.
    public mutating func shutDown(at now: Instant) {
        // The links first: a controller that leaves another command unanswered must not keep them waiting.
        for slot in links.slots where links.at[slot.index].isInUse { close(slot, .shutDown, at: now) }
        scanner.stop()
        for set in advertiser.sets { advertiser.stop(set.handle) }
        perform(initiator.abandon(.notReady), at: now)
        perform(synchronizer.abandon(.notReady), at: now)
        if lifecycle.isUp { advanceActivities(at: now) }
    }

    /// Whether the controller has a link, reported or not.
    public var hasLinks: Bool { !links.isEmpty }

    /// Whether the controller has no link, and none can begin any more.
    public var isShutDown: Bool {
        links.isEmpty && (!lifecycle.isUp || initiator.isIdle && !advertiser.acceptsConnections)
    }
}
