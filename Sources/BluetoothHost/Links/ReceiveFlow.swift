/// What of the room for received packets one link takes up, where the controller counts that
/// (Core 5.4, Vol 4, Part E, 4.2).
struct ReceiveCredit: Sendable {
    /// Packets that have come since the last report to the controller.
    private var received: UInt16 = 0
    /// Packets not reported until receiving resumes; nil while it is not held.
    private var withheld: UInt16?

    var isHeld: Bool { withheld != nil }

    /// A packet has come. Counted also where the controller does not, since to ask would cost more.
    @inline(__always)
    mutating func packetReceived() { received &+= 1 }

    mutating func hold() { withheld = withheld ?? 0 }

    mutating func resume() {
        received += withheld ?? 0
        withheld = nil
    }

    /// Takes the number of packets to report to the controller now.
    ///
    /// - Parameter share: how many packets this link may withhold.
    mutating func take(share: UInt16) -> UInt16 {
        let total = received + (withheld ?? 0)
        received = 0
        guard withheld != nil else { return total }
        let kept = min(total, share)
        withheld = kept
        return total - kept
    }
}

/// The room for received packets that all links share.
struct ReceiveFlow: Sendable {
    /// The longest packet the host takes. Longer than any link layer packet, so that controllers need not cut them.
    static let packetLength: UInt16 = 1024
    static let maximumBufferCount: UInt16 = 0x4000
    /// How many links fit into one Host Number Of Completed Packets command.
    static let maximumReportedLinks = 63

    /// Whether the controller counts.
    let isOn: Bool
    private let bufferCount: UInt16
    /// After how many packets the controller gets a report: several at once, and long before it has to wait.
    private let reportInterval: UInt16
    /// How many packets have come since.
    private var received: UInt16 = 0

    /// - Parameter bufferCount: how many packets the host holds, as the controller knows; 0 where it does not count.
    init(bufferCount: UInt16) {
        self.bufferCount = bufferCount
        reportInterval = bufferCount == 0 ? .max : max(1, bufferCount / 4)
        isOn = bufferCount > 0
    }

    /// A packet has come.
    ///
    /// - Returns: whether a report to the controller is due.
    @inline(__always)
    mutating func packetReceived() -> Bool {
        received &+= 1
        return received >= reportInterval
    }

    /// How many packets each of a number of links may withhold, so that a link that stands still leaves the others
    /// theirs. Counting starts again from zero.
    mutating func beginReport(linkCount: Int) -> UInt16 {
        received = 0
        return bufferCount / UInt16(clamping: max(1, linkCount))
    }
}
