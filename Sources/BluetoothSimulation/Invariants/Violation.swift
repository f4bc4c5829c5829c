import BluetoothBase

/// A violation of a rule in a world.
public struct Violation: Equatable, Sendable {
    /// A rule that must always hold.
    @nonexhaustive
    public enum Rule: String, CaseIterable, Sendable {
        /// A host sends no command beyond the controller's credits (Core 5.4, Vol 4, Part E, 4.4).
        case commandCredit
        /// A host sends no data beyond the controller's buffers, and no packet longer than one (4.1.1).
        case dataBuffers
        /// A host sends no command that the controller does not support.
        case unknownCommand
        /// At most one ATT request is in flight per bearer and direction (Vol 3, Part F, 3.3.2), and each gets one
        /// response.
        case oneRequest
        /// At most one ATT indication is in flight, and each is confirmed once.
        case oneIndication
        /// No K-frame is sent without a credit, exceeds the peer's MPS, or is sent on a channel that is not open (Vol
        /// 3, Part A, 10.1).
        case channelCredit
        /// No ATT PDU is longer than the ATT_MTU.
        case mtu
        /// Each call ends exactly once.
        case endsOnce
        /// A call ends with a reason that matches what happened.
        case fittingReason
        /// Events of a link are reported between its beginning and its end.
        case linkEvents
        /// Values arrive in order, without duplicates, and unchanged.
        case valueOrder
        /// No value is missing unless a loss was reported on the link.
        case valueMissing
        /// A message of several chunks arrives complete, or ends in an error.
        case wholeMessage
        /// A client's user gets exactly what the peer's server must answer, and no other result or error.
        case expected
        /// Packets that a host sends are laid out as specified.
        case wellFormed
        /// A permission is never bypassed.
        case permission
        /// Data that requires encryption is only sent over links that both hosts have encrypted. Data from a bonded
        /// peer over any other link is not delivered. A link is reported as encrypted only if its controllers have
        /// reported so.
        case protection
        /// A link is reported as authenticated only if two persons compared equal numbers or used the same passkey.
        case authentication
        /// Bonds are created only with the agreement of both sides, are the same on both sides, do not get weaker, and
        /// last.
        case bond
        /// A pairing agent is asked one question at a time, and notified of the end.
        case agent
        /// Both ends agree about subscriptions when the world is quiet.
        case subscriptions
        /// The state that users want is restored some time after the last fault.
        case wanted
        /// Nothing is left behind: links, calls, buffers, memory.
        case leftovers
        /// Queues and tables stay within their limits.
        case bounds
        /// At each instant of virtual time, a host finishes its work.
        case noRest
        /// No part of an application runs outside its world.
        case escaped
        /// The same seed produces the same bytes.
        case repeatable
        /// A rule of the application under test.
        case application
    }

    /// The rule that was violated.
    public var rule: Rule
    /// The virtual time at which the violation was noticed. Zero for `repeatable`, which is checked after a world has
    /// ended.
    public var instant: Instant
    /// The station where it was noticed; nil if it concerns the whole world.
    public var station: Int?
    /// An explanation for the developer, in one line.
    public var text: String
}

extension Violation: CustomStringConvertible {
    /// The rule, the station, the time in seconds and the explanation, such as `mtu at station 1 after 2.5 s: …`.
    public var description: String {
        let seconds = Double(instant.nanoseconds / 1_000) / 1_000_000
        let place = station.map { " at station \($0)" } ?? ""
        return "\(rule.rawValue)\(place) after \(seconds) s: \(text)"
    }
}
