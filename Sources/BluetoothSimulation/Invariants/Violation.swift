import BluetoothBase

/// Something that is not as it must be.
public struct Violation: Equatable, Sendable {
    /// What must always hold.
    public enum Rule: String, CaseIterable, Sendable {
        /// A host sends no command beyond the controller's credits (Core 5.4, Vol 4, Part E, 4.4).
        case commandCredit
        /// A host sends no data beyond the controller's buffers, and no packet longer than one (4.1.1).
        case dataBuffers
        /// A host sends no command that the controller does not know.
        case unknownCommand
        /// One ATT request is in flight per bearer and direction (Vol 3, Part F, 3.3.2), and each gets one answer.
        case oneRequest
        /// One ATT indication is in flight, and each is confirmed once.
        case oneIndication
        /// No K-frame is sent without a credit, longer than the peer's MPS, or on a channel that is not open (Vol 3, Part A,
        /// 10.1).
        case channelCredit
        /// No ATT PDU is longer than the ATT_MTU.
        case mtu
        /// Each call ends exactly once.
        case endsOnce
        /// A call ends with a reason that fits.
        case fittingReason
        /// Events of a link come between its beginning and its end.
        case linkEvents
        /// Values arrive in order, none twice, none changed.
        case valueOrder
        /// No value is missing unless the link says so.
        case valueMissing
        /// A message of several chunks arrives whole, or ends in an error.
        case wholeMessage
        /// What a peer's server must answer is what a client's user gets: no less, nothing else, and no refusal.
        case expected
        /// What a host sends is laid out as the specification says.
        case wellFormed
        /// A permission is never bypassed.
        case permission
        /// What needs an encrypted link goes over one that both hosts have encrypted, and what a bonded peer sends over another
        /// link is not delivered; a link is called encrypted only if its controllers say so.
        case protection
        /// A link is called authenticated only if two persons compared equal numbers or used the same passkey.
        case authentication
        /// Bonds are made only where both sides agreed, are the same on both sides, do not get weaker, and last.
        case bond
        /// Whoever answers for the person is asked one question at a time, and told of the end.
        case agent
        /// When all is quiet, both ends agree about subscriptions.
        case subscriptions
        /// What is wanted holds again some time after the last fault.
        case wanted
        /// Nothing stays behind: links, calls, buffers, memory.
        case leftovers
        /// Queues and tables keep to their limits.
        case bounds
        /// A host comes to rest at each instant.
        case noRest
        /// Nothing of an application goes on outside of its world.
        case escaped
        /// The same seed gives the same bytes.
        case repeatable
        /// A rule of the application under test.
        case application
    }

    public var rule: Rule
    public var instant: Instant
    /// The station it was noticed at; nil if it concerns the whole world.
    public var station: Int?
    public var text: String
}

extension Violation: CustomStringConvertible {
    public var description: String {
        let seconds = Double(instant.nanoseconds / 1_000) / 1_000_000
        let place = station.map { " at station \($0)" } ?? ""
        return "\(rule.rawValue)\(place) after \(seconds) s: \(text)"
    }
}
