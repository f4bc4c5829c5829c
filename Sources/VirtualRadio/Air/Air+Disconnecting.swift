import BluetoothBase
import BluetoothHCI

extension Air {
    /// Ends a link at every end that still has it, and reports the reason to each host.
    mutating func close(
        _ link: Int, central centralReason: HCIStatus, peripheral peripheralReason: HCIStatus, at now: Instant
    ) {
        for (role, reason) in [(LinkRole.central, centralReason), (.peripheral, peripheralReason)]
        where links[link][role].isOpen {
            let controller = links[link][role].controller
            let handle = links[link][role].handle
            release(role, of: link, at: now)
            controllers[controller].reportDisconnection(handle, reason)
        }
        retire(link)
    }

    mutating func close(_ link: Int, reason: HCIStatus, at now: Instant) {
        close(link, central: reason, peripheral: reason, at: now)
    }

    /// Ends a link silently at one end. The other end notices when it stops receiving packets.
    mutating func abandon(_ role: LinkRole, of link: Int, at now: Instant) {
        release(role, of: link, at: now)
        guard links[link][role.other].isOpen else { return retire(link) }
        refreshContact(link, at: now)
    }

    /// Ends a link that has had no contact for too long. A host that requested the disconnection gets the reason for a
    /// local one.
    mutating func closeForLoss(_ link: Int, at now: Instant) {
        let lossReason = links[link].lossReason
        func reason(of role: LinkRole) -> HCIStatus {
            links[link].isInProgress(role) { if case .terminate = $0 { true } else { false } }
                ? .connectionTerminatedByLocalHost : lossReason
        }
        close(link, central: reason(of: .central), peripheral: reason(of: .peripheral), at: now)
    }

    /// Removes a link at one end. Packets that this end's host has not completed count as completed.
    private mutating func release(_ role: LinkRole, of link: Int, at now: Instant) {
        let controller = links[link][role].controller
        pools[controller].removeAll(of: &links[link][role].queue)
        controllers[controller].releaseConnectionSlot(links[link][role].handle)
        links[link][role].isOpen = false
        _ = controllers[controller].settings.hostBuffers.giveBack(
            links[link][role].hostPackets, of: &links[link][role])
        resumeHeldLinks(of: controller, at: now)
    }

    private mutating func retire(_ link: Int) {
        links[link].isInUse = false
        links[link].procedures.removeAll()
        schedule.set(AirTimer(.link, of: link), to: nil)
    }

    // MARK: - Contact

    /// Determines which links of a controller have lost or regained contact.
    mutating func refreshContacts(of controller: Int, at now: Instant) {
        for link in links.indices where links[link].isInUse && links[link].role(of: controller) != nil {
            refreshContact(link, at: now)
        }
    }

    private mutating func refreshContact(_ link: Int, at now: Instant) {
        let hasContact =
            links[link].central.isOpen && links[link].peripheral.isOpen
            && areInRange(links[link].central.controller, links[link].peripheral.controller)
        guard hasContact != links[link].hasContact else { return }
        if hasContact { links[link].regainContact(at: now) } else { links[link].loseContact(at: now) }
        reschedule(link)
    }

    /// Sets the timer of a link to its next deadline.
    mutating func reschedule(_ link: Int) {
        schedule.set(AirTimer(.link, of: link), to: links[link].nextDeadline)
    }
}
