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

    package static let none = HostOccupancy()
}

extension SharedHost {
    package var occupancy: HostOccupancy {
        mutating get {
            HostOccupancy(
                links: links.count { $0.isInUse } + host.links.slots.count { host.links.at[$0].isInUse },
                waitingCommands: host.commands.waiting, waitingFrames: host.waitingLinks,
                takenBuffers: host.flow.bufferCount - host.flow.available,
                userEntries: users.count + scans.count + advertisements.count + connects.peers.count)
        }
    }
}
