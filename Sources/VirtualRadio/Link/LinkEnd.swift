import BluetoothBase
import BluetoothHCI

/// The state of one end of a connection.
struct LinkEnd: Sendable {
    /// The index of the controller.
    var controller: Int
    /// The controller's address on this link.
    var address: DeviceAddress
    /// The connection handle for that controller's host.
    var handle: ConnectionHandle
    /// Whether this controller still has the connection. The other end may learn of the disconnection later.
    var isOpen: Bool
    /// The data from the host that has not been sent yet.
    var queue = ACLQueue()
    /// Whether `queue` waits for the other end's host to have a free buffer.
    var awaitsHost = false
    /// The number of packets of this link sent to this end's host and not yet completed, with host flow control.
    var hostPackets = 0
    /// The maximum payload this end sends in one link layer packet, and the one it prefers (Core 5.4, Vol 6, Part B,
    /// 4.5.10).
    var transmitOctets = LinkEnd.minimumOctets
    var preferredOctets: UInt16
    /// The PHY this end sends on.
    var transmitPHY = LEPHY.le1M
    /// The power reporting that the host has enabled on this link.
    var power = PowerReporting()

    /// How this end handles periodic advertising that the other end transfers.
    var syncTransfer = SyncTransferParameters()

    /// The payload that every link layer supports, 27 octets.
    static let minimumOctets: UInt16 = 27
    /// The maximum payload of a link layer packet.
    static let maximumOctets: UInt16 = 251

    init(
        controller: Int, address: DeviceAddress, handle: ConnectionHandle, isOpen: Bool, preferredOctets: UInt16
    ) {
        self.controller = controller
        self.address = address
        self.handle = handle
        self.isOpen = isOpen
        self.preferredOctets = preferredOctets
    }

    /// Whether data is queued and may be sent.
    @inline(__always)
    var hasDataToSend: Bool { !queue.isEmpty && !awaitsHost }

    /// The air time of a link layer packet of `octets` from this end, including the inter frame space that follows it,
    /// in nanoseconds (Vol 6, Part B, 2.1, 4.1.1).
    func airTime(_ octets: Int) -> UInt64 {
        // Access address, header, CRC and, if there is a payload, space for a message integrity code.
        let framed = UInt64(octets) + (octets > 0 ? 4 : 0) + 9
        // LE Coded uses eight symbols per bit (2.2.2).
        let nanosecondsPerOctet: UInt64 = transmitPHY == .le2M ? 4000 : transmitPHY == .leCoded ? 64_000 : 8000
        let preambleOctets: UInt64 = transmitPHY == .le2M ? 2 : 1
        return (framed + preambleOctets) * nanosecondsPerOctet + Self.interFrameSpace
    }

    private static let interFrameSpace: UInt64 = 150_000
}
