import BluetoothBase

/// Counts a controller's data buffers, so that the host never sends more packets than it can hold
/// (Core 5.4, Vol 4, Part E, 4.1.1).
///
/// The buffers are shared by all links. Every packet sent takes one; Number Of Completed Packets gives back some of
/// those a link has taken, and the end of a link gives back all of them.
public struct ACLFlowControl: Sendable {
    /// How many packets the controller can hold.
    public private(set) var bufferCount: Int
    /// How many more packets the controller can take now.
    public private(set) var available: Int
    /// How often the controller freed more buffers than a link had taken, or buffers of an unknown link.
    public private(set) var violations: UInt64 = 0
    private var links: [Link] = []
    private var linkCount = 0

    private struct Link {
        var handle: ConnectionHandle
        var outstanding: Int
        /// Given up by the host before the controller has reported its disconnection.
        var isAbandoned = false
    }

    /// - Parameter bufferCount: `totalACLDataPackets`, as the controller reports it.
    public init(bufferCount: Int) {
        self.bufferCount = max(0, bufferCount)
        available = self.bufferCount
    }

    /// Whether the controller can take another packet.
    @inlinable
    public var canSend: Bool { available > 0 }

    /// Starts counting for a link. Does nothing for a known one. An abandoned link with the same handle has ended.
    public mutating func addLink(_ handle: ConnectionHandle) {
        if let slot = slot(of: handle) {
            guard links[slot].isAbandoned else { return }
            removeLink(handle)
        }
        linkCount += 1
        links.append(Link(handle: handle, outstanding: 0))
    }

    /// Ends a link: the controller has forgotten its packets, so their buffers are free.
    ///
    /// - Returns: how many buffers that freed.
    @discardableResult
    public mutating func removeLink(_ handle: ConnectionHandle) -> Int {
        guard let slot = slot(of: handle) else { return 0 }
        let link = links.remove(at: slot)
        if !link.isAbandoned { linkCount -= 1 }
        available += link.outstanding
        return link.outstanding
    }

    /// Gives up a link whose disconnection the controller never reported. The controller may hold its packets forever,
    /// so they count until it says otherwise.
    ///
    /// - Returns: false if the controller can accept nothing more, from any link: it needs a reset.
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
    /// A link that already has its fair share leaves one buffer for every other link: a silent peer keeps its buffers
    /// until the link is lost, and must not block the others.
    ///
    /// - Returns: false if there is no free buffer, or no such link: then the packet must wait.
    public mutating func takeBuffer(for handle: ConnectionHandle) -> Bool {
        guard available > 0, let slot = slot(of: handle), !links[slot].isAbandoned,
            available >= linkCount || isShort(slot)
        else { return false }
        available &-= 1
        links[slot].outstanding &+= 1
        return true
    }

    /// Frees the buffers of packets a controller has sent. A count beyond what the link has taken frees no more than
    /// that, and an unknown link frees nothing.
    ///
    /// - Returns: how many buffers that freed.
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
    private func isShort(_ slot: Int) -> Bool {
        links[slot].outstanding < max(1, bufferCount / linkCount)
    }

    /// How many buffers a link has taken.
    public func outstanding(for handle: ConnectionHandle) -> Int {
        slot(of: handle).map { links[$0].outstanding } ?? 0
    }

    /// Forgets all links and sets the number of buffers: for a controller that has been reset.
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
