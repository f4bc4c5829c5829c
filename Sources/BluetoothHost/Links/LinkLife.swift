import BluetoothBase
import BluetoothHCI

/// The lifecycle of a link, from the controller's report to its end.
///
///     establishing ──first packet received──▶ open ──▶ overwhelmed
///          │                                   │            │
///          └─called off──▶ dismissed           └────────────┴──Disconnect sent──▶ closing
///
/// The caller knows a link only in the phases `open`, `overwhelmed` and `closing`.
struct LinkLife: Sendable {
    enum Phase: Sendable {
        /// A controller reports a connection as soon as it has sent the request to the peer. Until a packet from the
        /// peer arrives, the link may turn out never to have been established (reason 0x3E). At the given time the host
        /// stops waiting for a packet.
        case establishing(until: Instant)
        /// The link has been reported as connected.
        case open
        /// Responses had to be dropped, because the peer sends too many requests, or the controller sends nothing. The
        /// link is no longer usable, and received data is ignored.
        case overwhelmed
        /// Disconnect was sent. At the given time the host considers the link ended, even if the controller has not
        /// reported that.
        case closing(Closing, until: Instant)
        /// Disconnect was sent for a link that was never reported.
        case dismissed(until: Instant)
    }

    /// The reason why the host ends a link.
    enum Closing: Equatable, Sendable {
        /// The application, or the host itself, requested it.
        case requested
        /// The peer has not answered an ATT request in time. Nothing may be sent on that bearer any more (Core 5.4, Vol
        /// 3, Part F, 3.3.3), and the link is useless without its fixed bearer.
        case bearerExpired
        /// See `Phase.overwhelmed`.
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

    private(set) var phase: Phase
    /// On a central, until the link is established: the attempt to connect that led to the link.
    private(set) var attempt: Initiator.Attempt?

    /// Creates a link on which a first packet is expected until `deadline`.
    init(_ attempt: Initiator.Attempt?, establishedUntil deadline: Instant) {
        phase = .establishing(until: deadline)
        self.attempt = attempt
    }

    /// Whether the link has been reported as connected, so that its end must be reported as well.
    var isAnnounced: Bool {
        switch phase {
        case .open, .overwhelmed, .closing: true
        case .establishing, .dismissed: false
        }
    }

    /// Whether the host has asked the controller to end the link.
    var isEnding: Bool {
        switch phase {
        case .closing, .dismissed: true
        case .establishing, .open, .overwhelmed: false
        }
    }

    /// Whether frames on the link are processed.
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

    /// Opens the link, because a packet from the peer was received or the time to wait for one has passed.
    ///
    /// - Returns: whether the link has just opened, and, on a central, the attempt that led to it.
    mutating func establish() -> (hasOpened: Bool, attempt: ConnectionAttempt?) {
        guard case .establishing = phase else { return (false, nil) }
        phase = .open
        return (true, takeAttempt()?.identifier)
    }

    /// Removes and returns the attempt of a link that has not been established.
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
    ///   - reason: the reason to send to the peer, if the caller chooses one.
    ///   - supervisionTimeout: the time that the controller needs to notice that the peer is out of range.
    /// - Returns: the reason to send to the peer; nil if Disconnect was already sent.
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
            // The link has become unusable while it was ending, so this is the reason to report.
            phase = .closing(closing, until: until)
            return nil
        case .closing, .dismissed: return nil
        }
        return reason ?? closing.reason
    }

    /// What the end of a link means for the caller.
    enum Ending {
        case disconnected(HCIStatus)
        /// The caller knows no link, but an attempt to connect.
        case notEstablished(Initiator.Attempt)
        case unknown
    }

    /// The way to report the end of this link, given the controller's reason.
    func ending(_ reason: HCIStatus) -> Ending {
        switch phase {
        case .establishing, .dismissed: attempt.map { .notEstablished($0) } ?? .unknown
        case .open: .disconnected(reason)
        case .overwhelmed: .disconnected(Closing.overwhelmed.reportedReason ?? reason)
        case .closing(let closing, _): .disconnected(closing.reportedReason ?? reason)
        }
    }
}
