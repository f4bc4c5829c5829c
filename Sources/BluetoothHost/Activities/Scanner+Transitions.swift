import BluetoothBase

extension Scanner: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case idle, starting, running, stopping
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        /// The arbiter's verdict or the request may have changed.
        case advance
        /// The answer to a command. `answerUnclear` leaves the state of the controller unknown.
        case accepted, refused, answerUnclear
        /// The watchdog's deadline has passed.
        case silence
        case reset
    }

    /// The application's calls change the request, but not the phase: `advance` follows them.
    static let transitions: [Transition<Scanner>] =
        [
            // A request for an unsupported feature fails without a command.
            Transition(.idle, .advance, .idle),
            Transition(.idle, .advance, .starting),
            Transition(.starting, .accepted, .starting),
            Transition(.starting, .accepted, .running),
            Transition(.starting, .refused, .idle),
            Transition(.starting, .refused, .stopping),
            Transition(.starting, .answerUnclear, .idle),
            Transition(.starting, .answerUnclear, .stopping),
            Transition(.running, .advance, .stopping),
            // If a report arrived in time, only the deadline moves.
            Transition(.running, .silence, .running),
            Transition(.running, .silence, .stopping),
            // Whatever the answer is, a controller that was asked to stop no longer scans for this host.
            Transition(.stopping, .accepted, .idle),
            Transition(.stopping, .refused, .idle),
            Transition(.stopping, .answerUnclear, .idle),
        ] + PhaseName.allCases.map { Transition($0, .reset, .idle) }
}
