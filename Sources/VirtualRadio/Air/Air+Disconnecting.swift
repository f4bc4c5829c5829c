import BluetoothBase
import BluetoothHCI

extension Air {
    /// Ends a link for the ends that still have it, and reports the reason to their hosts.
    mutating func close(_ link: Int, central centralReason: HCIStatus, peripheral peripheralReason: HCIStatus) {
        for (role, reason) in [(LinkRole.central, centralReason), (.peripheral, peripheralReason)]
        where links[link][role].isOpen {
            let controller = links[link][role].controller
            let handle = links[link][role].handle
            release(role, of: link)
            controllers[controller].reportDisconnection(handle, reason)
        }
        retire(link)
    }

    mutating func close(_ link: Int, reason: HCIStatus) {
        close(link, central: reason, peripheral: reason)
    }

    /// Ends a link silently at one end: the other end notices when it receives nothing more.
    mutating func abandon(_ role: LinkRole, of link: Int, at now: Instant) {
        release(role, of: link)
        guard links[link][role.other].isOpen else { return retire(link) }
        refreshContact(link, at: now)
    }

    /// Ends a link that has had no contact for too long. A host that had requested a disconnection gets
    /// the reason for that.
    mutating func closeForLoss(_ link: Int) {
        let lossReason = links[link].lossReason
        func reason(for role: LinkRole) -> HCIStatus {
            links[link].isInProgress(role) { if case .terminate = $0 { true } else { false } }
                ? .connectionTerminatedByLocalHost : lossReason
        }
        close(link, central: reason(for: .central), peripheral: reason(for: .peripheral))
    }

    private mutating func release(_ role: LinkRole, of link: Int) {
        let controller = links[link][role].controller
        pools[controller].removeAll(of: &links[link][role].queue)
        controllers[controller].releaseConnectionSlot(links[link][role].handle)
        links[link][role].isOpen = false
    }

    private mutating func retire(_ link: Int) {
        links[link].isInUse = false
        links[link].procedures.removeAll()
        schedule.set(Timer(.link, of: link), to: nil)
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
        schedule.set(Timer(.link, of: link), to: links[link].nextDeadline)
    }
}
