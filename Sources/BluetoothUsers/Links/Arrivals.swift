import BluetoothHost
import BluetoothL2CAP

/// Consecutive SDUs of one channel that have arrived in this turn. Their user gets one event for all of them.
struct Arrivals: Sendable {
    let user: UserID
    let link: LinkIdentifier
    let channel: CreditBasedChannel.ID
    /// The octets of all SDUs.
    private(set) var payload: Payload
    /// The sum of the SDUs' shares of the window.
    private(set) var share: Int
    private let limits: ChannelParameters

    init(_ sdu: Payload, on record: ChannelRecord, of link: LinkIdentifier) {
        user = record.user
        self.link = link
        channel = record.id
        limits = record.limits
        payload = sdu
        share = limits.share(ofSDU: sdu.count)
    }

    /// The maximum share of several SDUs in one event, in octets. A user copies the octets, which takes less time while
    /// they are in the first-level cache. A longer SDU has an event to itself.
    private static let maximumShare = 8192

    /// Adds an SDU of the same channel whose octets follow directly. Returns false if it was not added, because the
    /// event would be too long. The total never exceeds a quarter of the window, so that the peer gets credits while
    /// the reader still processes later events.
    @inline(__always)
    mutating func add(_ sdu: Payload, on channel: CreditBasedChannel.ID, of link: LinkIdentifier) -> Bool {
        guard self.channel == channel, self.link == link, payload.start &+ payload.count == sdu.start else {
            return false
        }
        let sum = share &+ limits.share(ofSDU: sdu.count)
        guard sum <= min(limits.reportMark, Self.maximumShare) else { return false }
        payload.count &+= sdu.count
        share = sum
        return true
    }
}

extension ChannelParameters {
    /// A quarter of the window, in octets. A user reports what it has processed in portions of that size, so that a
    /// peer whose octets are processed at once never waits for a report.
    var reportMark: Int { creditMark / 2 }
}
