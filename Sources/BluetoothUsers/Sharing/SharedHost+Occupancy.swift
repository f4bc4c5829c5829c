import BluetoothBase
import BluetoothHost

extension SharedHost {
    /// The number of objects that the host and its users currently hold.
    package var occupancy: HostOccupancy {
        mutating get {
            var occupancy = host.occupancy
            occupancy.links += links.count { $0.isInUse }
            occupancy.userEntries =
                users.count + scans.count + advertisements.count + advertisingSets.count + connects.peers.count
            occupancy.clientOperations += links.reduce(0) { $0 + ($1.isInUse ? $1.scheduler.waitingCount : 0) }
            occupancy.channelRequests = slots.reduce(0) { $0 + channelRequests(on: $1) }
            occupancy.pairings = slots.reduce(0) { $0 + pairings(on: $1) }
            return occupancy
        }
    }

    /// A description of the first table or queue that exceeds its limit; nil if none does.
    package var surplus: String? {
        mutating get {
            for link in links where link.isInUse {
                let indications = link.indications.all.count
                if indications > IndicationQueue.capacity { return "\(indications) indications on one link" }
                let waiting = link.scheduler.waitingCount
                if waiting > 4 * OperationScheduler.capacity { return "\(waiting) waiting operations on one link" }
            }
            if attributes.count > PeerAttributes.capacity { return "\(attributes.count) databases of peers" }
            if names.all.count > PeerNames.capacity { return "\(names.all.count) names of peers" }
            return host.surplus
        }
    }

    private func channelRequests(on slot: LinkSlot) -> Int {
        guard links[slot.index].isInUse else { return 0 }
        return links[slot.index].channelOpenings.count + links[slot.index].security.channelCount
            + links[slot.index].reconfigurations.count
    }

    private func pairings(on slot: LinkSlot) -> Int {
        guard links[slot.index].isInUse else { return 0 }
        return (host.isSecurityPending(on: links[slot.index].identifier) ? 1 : 0)
            + links[slot.index].security.callCount
    }

    /// The bonds that the host has loaded.
    package var bonds: [Bond] { host.bonds }
}
