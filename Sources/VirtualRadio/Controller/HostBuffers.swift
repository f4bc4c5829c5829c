import BluetoothHCI

/// What a controller knows of its host's buffers for data (Core 5.4, Vol 4, Part E, 4.2). All links share them.
struct HostBuffers: Sendable {
    /// Whether data waits for a free buffer. The host says when one is free again.
    var isFlowControlled = false
    /// How many octets of data one buffer holds; no limit until the host has said.
    private(set) var length = Int.max
    /// How many buffers there are; no limit until the host has said.
    private(set) var total = Int.max
    /// How many packets the host has been sent and has not completed, of all links. `LinkEnd` counts those of each.
    private(set) var inUse = 0
    /// Whether a link waits for a buffer.
    var isAwaited = false

    /// Whether a packet can be sent to the host.
    @inline(__always)
    var hasRoom: Bool { inUse < total }

    /// Takes what the host says about its buffers. False where nothing would fit into them.
    mutating func resize(_ size: HostBufferSize) -> Bool {
        guard size.aclDataPacketLength > 0, size.totalACLDataPackets > 0 else { return false }
        length = Int(size.aclDataPacketLength)
        total = Int(size.totalACLDataPackets)
        return true
    }

    /// Counts a packet that is sent to the host, here and for its link.
    @inline(__always)
    mutating func take(for end: inout LinkEnd) {
        guard isFlowControlled else { return }
        inUse &+= 1
        end.hostPackets &+= 1
    }

    /// Counts packets of a link that the host has completed. False where it was not sent so many.
    mutating func giveBack(_ count: Int, of end: inout LinkEnd) -> Bool {
        guard count <= end.hostPackets else { return false }
        inUse -= count
        end.hostPackets -= count
        return true
    }
}
