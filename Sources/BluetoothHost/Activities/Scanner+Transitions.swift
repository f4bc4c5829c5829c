extension Scanner: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case idle, starting, running, stopping
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        /// The arbiter decides again, or something else is wanted.
        case advance
        /// The answers to a command; the last one says nothing about what the controller did.
        case accepted, refused, answerUnclear
        /// The watchdog's deadline has passed.
        case silence
        case reset
    }

    /// The calls change what is wanted and no phase: `advance` follows them.
    static let transitions: [Transition<Scanner>] =
        [
            // What the controller lacks is refused where it is.
            Transition(.idle, .advance, .idle),
            Transition(.idle, .advance, .starting),
            Transition(.starting, .accepted, .starting),
            Transition(.starting, .accepted, .running),
            Transition(.starting, .refused, .idle),
            Transition(.starting, .refused, .stopping),
            Transition(.starting, .answerUnclear, .idle),
            Transition(.starting, .answerUnclear, .stopping),
            Transition(.running, .advance, .stopping),
            // After a report in time, the deadline only moves.
            Transition(.running, .silence, .running),
            Transition(.running, .silence, .stopping),
            // Whatever it answers, a controller that was asked to stop no longer scans for this host.
            Transition(.stopping, .accepted, .idle),
            Transition(.stopping, .refused, .idle),
            Transition(.stopping, .answerUnclear, .idle),
        ] + PhaseName.allCases.map { Transition($0, .reset, .idle) }
}
