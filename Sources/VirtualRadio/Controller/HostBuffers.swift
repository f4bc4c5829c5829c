import BluetoothHCI

/// A controller's view of its host's data buffers (Core 5.4, Vol 4, Part E, 4.2). All links share them.
struct HostBuffers: Sendable {
    /// Whether data waits for a free buffer. The host reports when it frees one.
    var isFlowControlled = false
    /// The size of one buffer in octets; no limit until the host has reported it.
    private(set) var length = Int.max
    /// The number of buffers; no limit until the host has reported it.
    private(set) var total = Int.max
    /// The number of packets sent to the host and not yet completed, on all links. `LinkEnd` counts those of each link.
    private(set) var inUse = 0
    /// Whether a link waits for a buffer.
    var isAwaited = false

    /// Whether a packet can be sent to the host.
    @inline(__always)
    var hasRoom: Bool { inUse < total }

    /// Stores the buffer sizes that the host reports. Returns false if they could hold no data.
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

    /// Counts packets of a link that the host has completed. Returns false if the host was not sent that many.
    mutating func giveBack(_ count: Int, of end: inout LinkEnd) -> Bool {
        guard count <= end.hostPackets else { return false }
        inUse -= count
        end.hostPackets -= count
        return true
    }
}
