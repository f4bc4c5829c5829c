import BluetoothBase

extension Initiator: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case idle, initiating, cancelling
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        /// The arbiter's verdict or the requested peers may have changed.
        case advance
        /// The answer to Create Connection.
        case accepted, refused
        /// No condition known to the host explains the last refusal.
        case unexplained
        /// The controller refused to add a peer to its filter accept list.
        case listRefused
        /// The controller has no connection attempt to cancel.
        case cancelRefused
        /// LE Connection Complete, with status Success or with an error.
        case connected, failed
        /// A turn has ended, or a cancelled connection attempt was not reported in time.
        case expire
        case reset
    }

    /// The application's calls and the timeout of an attempt change the requested peers, but not the phase: `advance`
    /// follows them.
    static let transitions: [Transition<Initiator>] =
        [
            // If there are no peers, other activities may use the radio again.
            Transition(.idle, .advance, .idle),
            Transition(.idle, .advance, .initiating),
            // The controller may still be processing an earlier attempt. Otherwise the attempts fail.
            Transition(.idle, .unexplained, .cancelling),
            Transition(.idle, .unexplained, .idle),
            Transition(.initiating, .accepted, .initiating),
            Transition(.initiating, .refused, .idle),
            Transition(.initiating, .advance, .initiating),
            Transition(.initiating, .advance, .cancelling),
            Transition(.initiating, .connected, .idle),
            Transition(.initiating, .failed, .idle),
            Transition(.initiating, .expire, .initiating),
            Transition(.cancelling, .cancelRefused, .idle),
            Transition(.cancelling, .connected, .idle),
            Transition(.cancelling, .failed, .idle),
            Transition(.cancelling, .expire, .idle),
            // A peer may connect late, and answers may also arrive late.
            Transition(.idle, .connected, .idle),
        ] + PhaseName.allCases.map { Transition($0, .listRefused, $0) }
        + PhaseName.allCases.map { Transition($0, .reset, .idle) }
}
