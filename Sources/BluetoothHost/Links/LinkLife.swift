import BluetoothBase
import BluetoothHCI

/// The lifecycle of a link, from the controller's report to its end.
///
/// The caller knows a link only in the phases `open`, `overwhelmed` and `closing`.
struct LinkLife: StateMachine {
    private enum Phase: Hashable, Sendable {
        /// A controller reports a connection as soon as it has sent the request to the peer. Until a packet from the
        /// peer arrives, the link may turn out never to have been established (reason 0x3E). At the given time the host
        /// stops waiting for a packet. On a central, the attempt to connect has led to the link.
        case establishing(Initiator.Attempt?, until: Instant)
        /// The link has been reported as connected. It is a payload, because that is cheap to test, once per packet.
        case established(Condition)
        /// Disconnect was sent. At the given time the host considers the link ended, even if the controller has not
        /// reported that.
        case closing(Closing, until: Instant)
        /// Disconnect was sent for a link that was never reported.
        case dismissed(until: Instant)
    }

    private enum Condition: Hashable, Sendable {
        case open
        /// Responses had to be dropped, because the peer sends too many requests, or the controller sends nothing. The
        /// link is no longer usable, and received data is ignored.
        case overwhelmed
    }

    /// The reason why the host ends a link.
    enum Closing: Hashable, Sendable {
        /// The application, or the host itself, requested it.
        case requested
        /// The peer has not answered an ATT request in time. Nothing may be sent on that bearer any more (Core 5.4, Vol
        /// 3, Part F, 3.3.3), and the link is useless without its fixed bearer.
        case bearerExpired
        /// See `Condition.overwhelmed`.
        case overwhelmed
        /// The link could not be encrypted with the key of the peer's bond, for this reason.
        case encryptionFailed(HCIStatus)
        /// The controller is about to be released. The host ignores the peer, because the application that would answer
        /// its requests has closed the adapter.
        case shutDown

        /// The reason to report instead of the controller's, if the host itself found the link unusable.
        fileprivate var reportedReason: HCIStatus? {
            switch self {
            case .requested, .shutDown: nil
            case .bearerExpired: .llResponseTimeout
            case .overwhelmed: .memoryCapacityExceeded
            case .encryptionFailed(let status): status
            }
        }

        /// The reason to send to the peer.
        fileprivate var reason: HCIStatus {
            switch self {
            case .requested, .bearerExpired, .shutDown: .remoteUserTerminatedConnection
            case .overwhelmed: .remoteDeviceLowResources
            case .encryptionFailed: .authenticationFailure
            }
        }
    }

    private var phase: Phase

    /// Creates a link on which a first packet is expected until `deadline`.
    init(_ attempt: Initiator.Attempt?, establishedUntil deadline: Instant) {
        phase = .establishing(attempt, until: deadline)
    }

    // MARK: Queries

    /// The attempt that led to a link which is not established yet.
    var attempt: Initiator.Attempt? {
        switch phase {
        case .establishing(let attempt, _): attempt
        case .established, .closing, .dismissed: nil
        }
    }

    /// Whether the link has been reported as connected, so that its end must be reported as well.
    var isAnnounced: Bool {
        switch phase {
        case .established, .closing: true
        case .establishing, .dismissed: false
        }
    }

    /// Whether the host has asked the controller to end the link.
    var isEnding: Bool {
        switch phase {
        case .closing, .dismissed: true
        case .establishing, .established: false
        }
    }

    /// Whether frames on the link are processed.
    var takesFrames: Bool {
        switch phase {
        case .established(let condition): condition == .open
        case .closing(let closing, _): closing != .overwhelmed && closing != .shutDown
        case .establishing, .dismissed: false
        }
    }

    @inline(__always)
    var isOpen: Bool {
        if case .established(.open) = phase { true } else { false }
    }

    /// Whether responses had to be dropped, so that the link must be ended.
    var isOverwhelmed: Bool { phase == .established(.overwhelmed) }

    var deadline: Instant? {
        switch phase {
        case .established(.open): nil
        case .established(.overwhelmed): .zero
        case .establishing(_, let until), .closing(_, let until), .dismissed(let until): until
        }
    }

    /// What is overdue on a link at its deadline.
    enum Overdue: Hashable {
        /// The first packet. The link counts as established without it.
        case firstPacket
        /// The end of a link that is overwhelmed.
        case end
        /// The controller's report that the link has ended. The host gives the link up.
        case report
    }

    /// What is overdue; nil before the deadline.
    func overdue(at now: Instant) -> Overdue? {
        guard let deadline, deadline <= now else { return nil }
        return switch phase {
        case .establishing: .firstPacket
        case .established(.overwhelmed): .end
        case .closing, .dismissed: .report
        case .established(.open): nil
        }
    }

    // MARK: Transitions

    /// Opens the link, because a packet from the peer was received or the time to wait for one has passed.
    ///
    /// - Returns: whether the link has just opened, and, on a central, the attempt that led to it.
    mutating func establish() -> (hasOpened: Bool, attempt: ConnectionAttempt?) {
        guard case .establishing(let attempt, _) = phase else { return (false, nil) }
        phase = .established(.open)
        return (true, attempt?.identifier)
    }

    /// Removes and returns the attempt of a link that has not been established.
    mutating func takeAttempt() -> Initiator.Attempt? {
        guard case .establishing(let attempt?, let until) = phase else { return nil }
        phase = .establishing(nil, until: until)
        return attempt
    }

    mutating func overwhelm() {
        if isOpen { phase = .established(.overwhelmed) }
    }

    /// Ends the link.
    ///
    /// - Parameters:
    ///   - reason: the reason to send to the peer, if the caller chooses one.
    ///   - supervisionTimeout: the time that the controller needs to notice that the peer is out of range.
    /// - Returns: the reason to send to the peer; nil if Disconnect was already sent.
    mutating func close(
        _ closing: Closing, reason: HCIStatus? = nil, supervisionTimeout: Duration, at now: Instant
    ) -> HCIStatus? {
        let until = now.advanced(by: min(supervisionTimeout, .seconds(32)) + .seconds(5))
        switch phase {
        case .establishing: phase = .dismissed(until: until)
        case .established: phase = .closing(closing, until: until)
        case .closing(.requested, let until) where closing != .requested:
            // The link has become unusable while it was ending, so this is the reason to report.
            phase = .closing(closing, until: until)
            return nil
        case .closing, .dismissed: return nil
        }
        return reason ?? closing.reason
    }

    /// What the end of a link means for the caller.
    enum Ending: Hashable {
        case disconnected(HCIStatus)
        /// The caller knows no link, but an attempt to connect.
        case notEstablished(Initiator.Attempt)
        case unknown
    }

    /// The way to report the end of this link, given the controller's reason.
    func ending(_ reason: HCIStatus) -> Ending {
        switch phase {
        case .establishing(let attempt?, _): .notEstablished(attempt)
        case .establishing(nil, _), .dismissed: .unknown
        case .established(.open): .disconnected(reason)
        case .established(.overwhelmed): .disconnected(Closing.overwhelmed.reportedReason ?? reason)
        case .closing(let closing, _): .disconnected(closing.reportedReason ?? reason)
        }
    }
}

extension LinkLife {
    package enum PhaseName: String, CaseIterable, Sendable {
        case establishing, open, overwhelmed, closing, dismissed
    }

    package enum EventName: String, CaseIterable, Sendable {
        /// `established`: a packet was received, or the time to wait for one has passed. `attemptResumed`: the
        /// controller was reset, and the attempt that led to the link starts again.
        case established, attemptResumed, overwhelmed, closed
    }

    package var phaseName: PhaseName {
        switch phase {
        case .establishing: .establishing
        case .established(.open): .open
        case .established(.overwhelmed): .overwhelmed
        case .closing: .closing
        case .dismissed: .dismissed
        }
    }

    package static var transitions: [Transition<LinkLife>] {
        [
            Transition(.establishing, .established, .open),
            Transition(.establishing, .attemptResumed, .establishing), Transition(.establishing, .closed, .dismissed),
            Transition(.open, .overwhelmed, .overwhelmed), Transition(.open, .closed, .closing),
            Transition(.overwhelmed, .closed, .closing), Transition(.closing, .closed, .closing),
        ]
    }
}
