/// One link's share of the receive buffers, if the controller uses flow control (Core 5.4, Vol 4, Part E, 4.2).
struct ReceiveCredit: Sendable {
    /// The number of packets received since the last report to the controller.
    private var received: UInt16 = 0
    /// The number of packets that are not reported until receiving resumes; nil while receiving is not held.
    private var withheld: UInt16?

    var isHeld: Bool { withheld != nil }

    /// Counts a received packet. Packets are counted even without flow control, because checking would cost more.
    @inline(__always)
    mutating func packetReceived() { received &+= 1 }

    mutating func hold() { withheld = withheld ?? 0 }

    mutating func resume() {
        received += withheld ?? 0
        withheld = nil
    }

    /// Takes the number of packets to report to the controller now.
    ///
    /// - Parameter share: the number of packets that this link may withhold.
    mutating func take(share: UInt16) -> UInt16 {
        let total = received + (withheld ?? 0)
        received = 0
        guard withheld != nil else { return total }
        let kept = min(total, share)
        withheld = kept
        return total - kept
    }
}

/// The receive buffers that all links share.
struct ReceiveFlow: Sendable {
    /// The maximum length of a packet that the host accepts. It exceeds that of any link layer packet, so that
    /// controllers need not split them.
    static let packetLength: UInt16 = 1024
    static let maximumBufferCount: UInt16 = 0x4000
    /// The maximum number of links in one Host Number Of Completed Packets command.
    static let maximumReportedLinks = 63

    /// Whether the controller uses flow control.
    let isOn: Bool
    private let bufferCount: UInt16
    /// The number of packets after which the host sends a report. A report covers several packets, and is sent long
    /// before the controller would have to wait.
    private let reportInterval: UInt16
    /// The number of packets received since the last report.
    private var received: UInt16 = 0

    /// - Parameter bufferCount: the number of packets that the host can hold, as reported to the controller; 0 without
    ///   flow control.
    init(bufferCount: UInt16) {
        self.bufferCount = bufferCount
        reportInterval = bufferCount == 0 ? .max : max(1, bufferCount / 4)
        isOn = bufferCount > 0
    }

    /// Counts a received packet.
    ///
    /// - Returns: whether a report to the controller is due.
    @inline(__always)
    mutating func packetReceived() -> Bool {
        received &+= 1
        return received >= reportInterval
    }

    /// Starts a report, and returns the number of packets that each link may withhold. The limit keeps a stalled link
    /// from using the buffers of the others.
    mutating func beginReport(linkCount: Int) -> UInt16 {
        received = 0
        return bufferCount / UInt16(clamping: max(1, linkCount))
    }
}
