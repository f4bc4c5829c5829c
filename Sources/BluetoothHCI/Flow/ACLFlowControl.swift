import BluetoothBase

/// Counts a controller's data buffers, so that the host never sends more packets than the controller can buffer (Core
/// 5.4, Vol 4, Part E, 4.1.1).
///
/// All links share the buffers. Every packet sent takes one buffer. Number Of Completed Packets frees buffers of a
/// link, and the end of a link frees all of its buffers.
public struct ACLFlowControl: Sendable {
    /// The number of packets the controller can buffer.
    public private(set) var bufferCount: Int
    /// The number of further packets the controller can accept now.
    public private(set) var available: Int
    /// The number of times the controller freed more buffers than a link had taken, or buffers of an unknown link.
    public private(set) var violations: UInt64 = 0
    private var links: [Link] = []
    private var linkCount = 0

    private struct Link {
        var handle: ConnectionHandle
        var outstanding: Int
        /// Whether the host has abandoned the link before the controller reported its disconnection.
        var isAbandoned = false
    }

    /// Creates the flow control of a controller whose buffers are all free.
    ///
    /// - Parameter bufferCount: `totalACLDataPackets` as reported by the controller.
    public init(bufferCount: Int) {
        self.bufferCount = max(0, bufferCount)
        available = self.bufferCount
    }

    /// Whether the controller can accept another packet.
    @inlinable
    public var canSend: Bool { available > 0 }

    /// Starts counting for a link. Does nothing for a known link. If an abandoned link has the same handle, it has
    /// ended, and its buffers are freed.
    public mutating func addLink(_ handle: ConnectionHandle) {
        if let slot = slot(of: handle) {
            guard links[slot].isAbandoned else { return }
            removeLink(handle)
        }
        linkCount += 1
        links.append(Link(handle: handle, outstanding: 0))
    }

    /// Ends a link. The controller has discarded its packets, so their buffers are free.
    ///
    /// - Returns: the number of buffers that were freed.
    @discardableResult
    public mutating func removeLink(_ handle: ConnectionHandle) -> Int {
        guard let slot = slot(of: handle) else { return 0 }
        let link = links.remove(at: slot)
        if !link.isAbandoned { linkCount -= 1 }
        available += link.outstanding
        return link.outstanding
    }

    /// Abandons a link whose disconnection the controller never reported. The controller may keep the link's packets
    /// forever, so their buffers stay occupied until the controller frees them.
    ///
    /// - Returns: false if the abandoned links occupy all buffers. The controller can't accept any more packets then
    ///   and needs a reset.
    public mutating func abandonLink(_ handle: ConnectionHandle) -> Bool {
        guard let slot = slot(of: handle), !links[slot].isAbandoned else { return true }
        if links[slot].outstanding == 0 {
            removeLink(handle)
        } else {
            links[slot].isAbandoned = true
            linkCount -= 1
        }
        let abandoned = links.reduce(0) { $0 + ($1.isAbandoned ? $1.outstanding : 0) }
        return abandoned < bufferCount
    }

    /// Takes a buffer for a packet to be sent on a link.
    ///
    /// A link that already has its fair share leaves one buffer for every other link. A silent peer keeps its buffers
    /// until the link is lost, and must not block the other links.
    ///
    /// - Returns: false if no buffer is available for the link, or if the link is unknown. The packet must then wait.
    public mutating func takeBuffer(for handle: ConnectionHandle) -> Bool {
        guard available > 0, let slot = slot(of: handle), !links[slot].isAbandoned,
            available >= linkCount || isShort(slot)
        else { return false }
        available &-= 1
        links[slot].outstanding &+= 1
        return true
    }

    /// The number of buffers that `takeBuffer` would give a link in succession.
    public func room(for handle: ConnectionHandle) -> Int {
        guard available > 0, let slot = slot(of: handle), !links[slot].isAbandoned else { return 0 }
        return min(available, max(0, share - links[slot].outstanding, available - linkCount + 1))
    }

    /// Takes several buffers for packets to be sent on a link, at most as many as `room` returns.
    public mutating func takeBuffers(_ count: Int, for handle: ConnectionHandle) {
        guard let slot = slot(of: handle) else { return }
        available &-= count
        links[slot].outstanding &+= count
    }

    /// Frees the buffers of packets that the controller has sent. At most the buffers taken by the link are freed; for
    /// an unknown link, none.
    ///
    /// - Returns: the number of buffers that were freed.
    @discardableResult
    public mutating func complete(_ packets: CompletedPackets) -> Int {
        guard let slot = slot(of: packets.connectionHandle) else {
            violations &+= 1
            return 0
        }
        let link = links[slot]
        let count = min(Int(packets.count), link.outstanding)
        if count < packets.count { violations &+= 1 }
        links[slot].outstanding -= count
        available += count
        if link.isAbandoned, link.outstanding == count { links.remove(at: slot) }
        return count
    }

    /// Whether a link has less than its fair share.
    private func isShort(_ slot: Int) -> Bool { links[slot].outstanding < share }

    /// The fair share of a link, while there is one.
    private var share: Int { max(1, bufferCount / linkCount) }

    /// Returns the number of buffers that a link has taken.
    public func outstanding(for handle: ConnectionHandle) -> Int {
        slot(of: handle).map { links[$0].outstanding } ?? 0
    }

    /// Removes all links and sets the number of buffers. Call this after the controller has been reset.
    public mutating func reset(bufferCount: Int) {
        links.removeAll(keepingCapacity: true)
        linkCount = 0
        self.bufferCount = max(0, bufferCount)
        available = self.bufferCount
    }

    private func slot(of handle: ConnectionHandle) -> Int? {
        var index = 0
        while index < links.count {
            if links[index].handle == handle { return index }
            index &+= 1
        }
        return nil
    }
}
