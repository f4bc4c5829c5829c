import BluetoothBase

extension PeriodicSynchronizer: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case idle, starting, running, cancelling
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        /// The requests may have changed, or another request has its turn.
        case advance
        /// The answer to a command.
        case accepted, refused
        /// LE Periodic Advertising Sync Established, with any status.
        case ended
        /// The controller has not reported the end of a cancelled attempt in time.
        case expire
        case reset
    }

    /// The application's calls and the timeout of a request change the requests, but not the phase: `advance` follows
    /// them.
    static let transitions: [Transition<PeriodicSynchronizer>] =
        [
            Transition(.idle, .advance, .starting),
            Transition(.starting, .accepted, .starting),
            Transition(.starting, .accepted, .running),
            Transition(.starting, .refused, .idle),
            Transition(.starting, .ended, .idle),
            Transition(.running, .advance, .cancelling),
            Transition(.running, .ended, .idle),
            // The controller has already synchronized, and has reported that, or it had not started to.
            Transition(.cancelling, .refused, .idle),
            Transition(.cancelling, .ended, .idle),
            Transition(.cancelling, .expire, .idle),
        ] + PhaseName.allCases.map { Transition($0, .reset, .idle) }
}
