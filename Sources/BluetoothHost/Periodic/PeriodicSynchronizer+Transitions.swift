extension PeriodicSynchronizer: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case idle, starting, running, cancelling
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        /// Something else is wanted, or another request has its turn.
        case advance
        /// The answers to a command.
        case accepted, refused
        /// LE Periodic Advertising Sync Established, with any status.
        case ended
        /// The controller has not reported the end of a cancelled search in time.
        case expire
        case reset
    }

    /// The calls, and the end of a request's time, change what is wanted and no phase: `advance` follows them.
    static let transitions: [Transition<PeriodicSynchronizer>] =
        [
            Transition(.idle, .advance, .starting),
            Transition(.starting, .accepted, .starting),
            Transition(.starting, .accepted, .running),
            Transition(.starting, .refused, .idle),
            Transition(.starting, .ended, .idle),
            Transition(.running, .advance, .cancelling),
            Transition(.running, .ended, .idle),
            // The controller has found what it was looking for, and has reported that; or it never looked.
            Transition(.cancelling, .refused, .idle),
            Transition(.cancelling, .ended, .idle),
            Transition(.cancelling, .expire, .idle),
        ] + PhaseName.allCases.map { Transition($0, .reset, .idle) }
}
