import BluetoothBase
import BluetoothGAP
import BluetoothGATT
import BluetoothHCI

/// The number of resources that a host and its users currently hold. Checks use it to verify that nothing is left over.
package struct HostOccupancy: Equatable, Sendable {
    package var links = 0
    package var waitingCommands = 0
    package var waitingFrames = 0
    /// Buffers of the controller that are in use.
    package var takenBuffers = 0
    /// Pending calls and requests of users.
    package var userEntries = 0
    /// Pending client operations. `preparedWrites` counts the writes that peers have queued, but neither executed nor
    /// cancelled.
    package var clientOperations = 0
    package var preparedWrites = 0
    /// Requests for L2CAP channels that wait for the peer, or for the link to be protected.
    package var channelRequests = 0
    /// Links on which a pairing is in progress or encryption is starting, and calls that wait for that.
    package var pairings = 0

    package static let none = HostOccupancy()
}

extension Host {
    /// The resources that the host itself holds, without its users.
    package var occupancy: HostOccupancy {
        var occupancy = HostOccupancy()
        occupancy.links = links.slots.count { links.at[$0.index].isInUse }
        occupancy.waitingCommands = commands.waiting
        occupancy.waitingFrames = sendRotation.waitingCount
        occupancy.takenBuffers = flow.bufferCount - flow.available
        occupancy.clientOperations = endpointCount { $0.channels.reduce(0) { $0 + $1.pendingOperationCount } }
        occupancy.preparedWrites = endpointCount { $0.servedClient.preparedWrites.count }
        return occupancy
    }

    /// A description of the first table or queue that exceeds its limit; nil if none does.
    package var surplus: String? {
        let frameLimit = max(1, configuration.sendQueueLimit) + Link.answerReserve
        let used = Array(links.used)
        if used.count > configuration.maximumLinks { return "\(used.count) links" }
        for slot in used {
            let frames = links.at[slot.index].sendQueue.count
            if frames > frameLimit { return "\(frames) frames of one link" }
            let writes = links.at[slot.index].endpoint.servedClient.preparedWrites
            if writes.count > writes.limits.count { return "\(writes.count) queued writes of one peer" }
        }
        if commands.waiting > commands.capacity { return "\(commands.waiting) commands" }
        let memories = [
            ("bonds", bonds.count, PeerTable.maximumBonds),
            ("names of private addresses", peers.temporaryNameCount, PeerTable.maximumTemporaryNames),
            ("attempts to connect", initiator.attemptCount, Initiator.maximumAttempts),
            ("advertising sets", advertiser.sets.count(where: \.isWanted), Advertiser.maximumSets),
            ("unfinished advertisements", scanner.reassembly.count, AdvertisingReassembly.maximumSets),
        ]
        return memories.first { $0.1 > $0.2 }.map { "\($0.1) \($0.0)" }
    }

    private func endpointCount(_ count: (borrowing AttributeEndpoint) -> Int) -> Int {
        links.used.reduce(0) { $0 + count(links.at[$1.index].endpoint) }
    }
}
