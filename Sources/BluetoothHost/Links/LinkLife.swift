import BluetoothBase
import BluetoothHCI

/// The life of a link, from the controller's report to its end.
///
///     establishing ──first packet received──▶ open ──▶ overwhelmed
///          │                                   │            │
///          └─called off──▶ dismissed           └────────────┴──Disconnect sent──▶ closing
///
/// Only `open`, `overwhelmed` and `closing` are phases of a link that the caller knows of.
struct LinkLife: Sendable {
    enum Phase: Sendable {
        /// A controller reports a connection when it has asked the peer for it. Until a packet from the peer was received
        /// the link may prove never to have existed (reason 0x3E). At the given time the host stops waiting for one.
        case establishing(until: Instant)
        /// The link was reported as connected.
        case open
        /// Answers had to be thrown away, because the peer asks for more and the controller sends none. The link is of no
        /// use any more, and nothing that comes over it is looked at.
        case overwhelmed
        /// Disconnect was sent. At the given time the link counts as gone even if the controller never says so.
        case closing(Closing, until: Instant)
        /// Disconnect was sent for a link that has never been reported.
        case dismissed(until: Instant)
    }

    /// Why the host ends a link.
    enum Closing: Equatable, Sendable {
        /// Somebody asked for it.
        case requested
        /// The peer has not answered an ATT request in time: nothing may be sent on the bearer any more, and ATT has no
        /// other on this link (Core 5.4, Vol 3, Part F, 3.3.3).
        case bearerExpired
        /// See `Phase.overwhelmed`.
        case overwhelmed
        /// The link could not be encrypted with the key of the peer's bond, for this reason.
        case encryptionFailed(HCIStatus)
        /// The controller is about to be released. The host ignores the peer: its requests would be answered for an application
        /// whose adapter is closed.
        case shutDown

        /// What to report in place of the controller's reason, where the host itself found the link unusable.
        fileprivate var reportedReason: HCIStatus? {
            switch self {
            case .requested, .shutDown: nil
            case .bearerExpired: .llResponseTimeout
            case .overwhelmed: .memoryCapacityExceeded
            case .encryptionFailed(let status): status
            }
        }

        /// What to tell the peer.
        fileprivate var reason: HCIStatus {
            switch self {
            case .requested, .bearerExpired, .shutDown: .remoteUserTerminatedConnection
            case .overwhelmed: .remoteDeviceLowResources
            case .encryptionFailed: .authenticationFailure
            }
        }
    }

    private(set) var phase: Phase
    /// For a central, until the link is established: the attempt to connect that will end with it.
    private(set) var attempt: Initiator.Attempt?

    /// A link from which a first packet is expected until `deadline`.
    init(_ attempt: Initiator.Attempt?, establishedUntil deadline: Instant) {
        phase = .establishing(until: deadline)
        self.attempt = attempt
    }

    /// Whether the link was reported as connected, so that its end is to be reported as well.
    var isAnnounced: Bool {
        switch phase {
        case .open, .overwhelmed, .closing: true
        case .establishing, .dismissed: false
        }
    }

    /// Whether the host has asked the controller to end it.
    var isEnding: Bool {
        switch phase {
        case .closing, .dismissed: true
        case .establishing, .open, .overwhelmed: false
        }
    }

    /// Whether what comes over the link is of use.
    var takesFrames: Bool {
        switch phase {
        case .open: true
        case .closing(let closing, _): closing != .overwhelmed && closing != .shutDown
        case .establishing, .overwhelmed, .dismissed: false
        }
    }

    @inline(__always)
    var isOpen: Bool {
        if case .open = phase { true } else { false }
    }

    var deadline: Instant? {
        switch phase {
        case .open: nil
        case .overwhelmed: .zero
        case .establishing(let until), .closing(_, let until), .dismissed(let until): until
        }
    }

    // MARK: Transitions

    /// A packet was received from the peer, or the time to wait for one is over.
    ///
    /// - Returns: whether the link has opened; and for a central the attempt that led to it.
    mutating func establish() -> (hasOpened: Bool, attempt: ConnectionAttempt?) {
        guard case .establishing = phase else { return (false, nil) }
        phase = .open
        return (true, takeAttempt()?.identifier)
    }

    /// Takes the attempt out of a link that has not been established.
    mutating func takeAttempt() -> Initiator.Attempt? {
        defer { attempt = nil }
        return attempt
    }

    mutating func overwhelm() {
        if case .open = phase { phase = .overwhelmed }
    }

    /// Ends the link.
    ///
    /// - Parameters:
    ///   - reason: what to tell the peer, where the caller says so.
    ///   - supervisionTimeout: how long the controller needs to notice that the peer is out of range.
    /// - Returns: the reason to tell the peer; nil where Disconnect was sent before.
    mutating func close(
        _ closing: Closing, reason: HCIStatus? = nil, supervisionTimeout: Duration, at now: Instant
    ) -> HCIStatus? {
        let until = now.advanced(by: min(supervisionTimeout, .seconds(32)) + .seconds(5))
        switch phase {
        case .establishing:
            phase = .dismissed(until: until)
            attempt = nil
        case .open, .overwhelmed: phase = .closing(closing, until: until)
        case .closing(.requested, let until) where closing != .requested:
            // The link has become unusable while it was ending: that is what is reported.
            phase = .closing(closing, until: until)
            return nil
        case .closing, .dismissed: return nil
        }
        return reason ?? closing.reason
    }

    /// What the end of a link means to the caller.
    enum Ending {
        case disconnected(HCIStatus)
        /// The caller knows of no link, but of an attempt to connect.
        case notEstablished(Initiator.Attempt)
        case unknown
    }

    /// How to report the end of this link, for which the controller gives a reason.
    func ending(_ reason: HCIStatus) -> Ending {
        switch phase {
        case .establishing, .dismissed: attempt.map { .notEstablished($0) } ?? .unknown
        case .open: .disconnected(reason)
        case .overwhelmed: .disconnected(Closing.overwhelmed.reportedReason ?? reason)
        case .closing(let closing, _): .disconnected(closing.reportedReason ?? reason)
        }
    }
}
