import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI

/// What a host holds at the moment, for those who check that nothing stays behind.
package struct HostOccupancy: Equatable, Sendable {
    package var links = 0
    package var waitingCommands = 0
    package var waitingFrames = 0
    /// Buffers of the controller that are not free.
    package var takenBuffers = 0
    /// Calls and wants of users.
    package var userEntries = 0
    /// Operations of the clients that have not ended, and writes that peers have queued and neither executed nor cancelled.
    package var clientOperations = 0
    package var preparedWrites = 0
    /// Requests about L2CAP channels that wait for the peer, or for the link to be protected.
    package var channelRequests = 0
    /// Links on which a pairing is under way or encryption is starting, and calls that wait for that.
    package var pairings = 0

    package static let none = HostOccupancy()
}

extension SharedHost {
    package var occupancy: HostOccupancy {
        mutating get {
            HostOccupancy(
                links: links.count { $0.isInUse } + host.links.slots.count { host.links.at[$0.index].isInUse },
                waitingCommands: host.commands.waiting, waitingFrames: host.waitingLinks,
                takenBuffers: host.flow.bufferCount - host.flow.available,
                userEntries: users.count + scans.count + advertisements.count + advertisingSets.count
                    + connects.peers.count,
                clientOperations: endpointCount { $0.channels.reduce(0) { $0 + $1.pendingOperationCount } }
                    + links.reduce(0) { $0 + ($1.isInUse ? $1.scheduler.waitingCount : 0) },
                preparedWrites: endpointCount { $0.peer.preparedWrites.count },
                channelRequests: slots.reduce(0) { $0 + channelRequests(on: $1) },
                pairings: slots.reduce(0) { $0 + pairings(on: $1) })
        }
    }

    /// What is more than its limit, in words; nil where nothing is.
    package var surplus: String? {
        mutating get {
            let frameLimit = max(1, host.configuration.sendQueueLimit) + Link.answerReserve
            let used = Array(host.links.used)
            if used.count > host.configuration.maximumLinks { return "\(used.count) links" }
            for slot in used {
                let frames = host.links.at[slot.index].sendQueue.count
                if frames > frameLimit { return "\(frames) frames of one link" }
                let writes = host.links.at[slot.index].endpoint.peer.preparedWrites
                if writes.count > writes.limits.count { return "\(writes.count) queued writes of one peer" }
            }
            for link in links where link.isInUse {
                let indications = link.indications.all.count
                if indications > IndicationQueue.capacity { return "\(indications) indications on one link" }
                let waiting = link.scheduler.waitingCount
                if waiting > 4 * OperationScheduler.capacity { return "\(waiting) waiting operations on one link" }
            }
            if host.commands.waiting > host.commands.capacity { return "\(host.commands.waiting) commands" }
            return memorySurplus
        }
    }

    /// What is remembered of peers and activities and is more than its limit, in words; nil where nothing is.
    private var memorySurplus: String? {
        let memories = [
            ("bonds", host.bonds.count, PeerTable.maximumBonds),
            ("names of private addresses", host.peers.temporaryNameCount, PeerTable.maximumTemporaryNames),
            ("databases of peers", attributes.count, PeerAttributes.capacity),
            ("names of peers", names.all.count, PeerNames.capacity),
            ("attempts to connect", host.initiator.attemptCount, Initiator.maximumAttempts),
            ("advertising sets", host.advertiser.sets.count(where: \.isWanted), Advertiser.maximumSets),
            ("unfinished advertisements", host.scanner.reassembly.count, AdvertisingReassembly.maximumSets),
        ]
        return memories.first { $0.1 > $0.2 }.map { "\($0.1) \($0.0)" }
    }

    private func channelRequests(on slot: LinkTable.Slot) -> Int {
        guard links[slot.index].isInUse else { return 0 }
        return links[slot.index].channelOpenings.count + links[slot.index].refusedChannels.count
            + links[slot.index].reconfigurations.count
    }

    private func pairings(on slot: LinkTable.Slot) -> Int {
        guard links[slot.index].isInUse else { return 0 }
        return (host.isSecurityPending(on: links[slot.index].identifier) ? 1 : 0)
            + links[slot.index].awaitingSecurity.count
    }

    /// The bonds that the host knows of.
    package var bonds: [Bond] { host.bonds }

    private func endpointCount(_ count: (borrowing AttributeEndpoint) -> Int) -> Int {
        host.links.used.reduce(0) { $0 + count(host.links.at[$1.index].endpoint) }
    }
}
