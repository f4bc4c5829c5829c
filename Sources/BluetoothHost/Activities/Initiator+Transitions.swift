extension Initiator: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case idle, initiating, cancelling
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        /// The arbiter decides again, or other peers are wanted.
        case advance
        /// The answers to Create Connection.
        case accepted, refused
        /// Nothing that the host knows explains the last refusal.
        case unexplained
        /// The controller takes no peer into its filter accept list.
        case listRefused
        /// There is nothing to cancel.
        case cancelRefused
        /// LE Connection Complete, without or with an error.
        case connected, failed
        /// A turn is over, or a cancelled connection was not reported in time.
        case expire
        case reset
    }

    /// The calls, and the end of an attempt's time, change what is wanted and no phase: `advance` follows them.
    static let transitions: [Transition<Initiator>] =
        [
            // Without peers, other activities may use the radio again.
            Transition(.idle, .advance, .idle),
            Transition(.idle, .advance, .initiating),
            // The controller may still be at an earlier attempt; else the attempts fail.
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
            // A peer may connect late, and answers may be late too.
            Transition(.idle, .connected, .idle),
        ] + PhaseName.allCases.map { Transition($0, .listRefused, $0) }
        + PhaseName.allCases.map { Transition($0, .reset, .idle) }
}
