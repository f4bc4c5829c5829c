import BluetoothBase

extension HostAdvertisingSet: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case idle, starting, running, updating, pausing, paused, resuming, stopping, stopped, silencing, removing
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        /// The arbiter's verdict or the request may have changed.
        case advance
        /// The answer to a command. `answerUnclear` leaves the state of the controller unknown.
        case accepted, refused, answerUnclear
        case peerConnected, peerFailed
        /// LE Advertising Set Terminated with a status other than Success.
        case terminated
        case reset
    }

    /// The application's calls and the end of the duration change the request, but not the phase: `advance` follows
    /// them.
    static let transitions: [Transition<HostAdvertisingSet>] =
        [
            // A request for an unsupported feature fails without a command.
            Transition(.idle, .advance, .idle),
            Transition(.idle, .advance, .starting),
            Transition(.starting, .accepted, .starting),
            Transition(.starting, .accepted, .running),
            Transition(.starting, .accepted, .stopping),
            Transition(.starting, .refused, .idle),
            Transition(.starting, .refused, .stopped),
            Transition(.starting, .answerUnclear, .idle),
            Transition(.starting, .answerUnclear, .stopped),
            Transition(.starting, .answerUnclear, .stopping),
            Transition(.starting, .peerConnected, .starting),
            Transition(.starting, .terminated, .starting),

            // The start is reported when the controller has confirmed it.
            Transition(.running, .advance, .running),
            Transition(.running, .advance, .updating),
            Transition(.running, .advance, .pausing),
            Transition(.running, .advance, .stopping),
            Transition(.running, .peerConnected, .idle),
            Transition(.running, .peerConnected, .stopped),
            Transition(.running, .peerConnected, .stopping),
            Transition(.running, .peerFailed, .stopping),
            Transition(.running, .terminated, .idle),
            Transition(.running, .terminated, .stopped),

            // Whatever the answer is, the set is still on the air.
            Transition(.updating, .accepted, .running),
            Transition(.updating, .accepted, .stopping),
            Transition(.updating, .refused, .running),
            Transition(.updating, .answerUnclear, .running),
            Transition(.updating, .terminated, .updating),

            Transition(.pausing, .accepted, .paused),
            Transition(.pausing, .refused, .paused),
            Transition(.pausing, .answerUnclear, .paused),
            Transition(.paused, .advance, .paused),
            Transition(.paused, .advance, .resuming),
            Transition(.paused, .advance, .silencing),
            Transition(.resuming, .accepted, .resuming),
            Transition(.resuming, .accepted, .running),
            Transition(.resuming, .accepted, .stopping),
            Transition(.resuming, .refused, .stopped),
            Transition(.resuming, .answerUnclear, .stopped),
            Transition(.resuming, .answerUnclear, .stopping),
            Transition(.resuming, .terminated, .resuming),

            // Whatever the answer is, a controller that was asked to stop no longer advertises for this host.
            Transition(.stopping, .accepted, .idle),
            Transition(.stopping, .accepted, .stopped),
            Transition(.stopping, .refused, .idle),
            Transition(.stopping, .refused, .stopped),
            Transition(.stopping, .answerUnclear, .idle),
            Transition(.stopping, .answerUnclear, .stopped),
            Transition(.stopped, .advance, .silencing),
            Transition(.stopped, .advance, .removing),
            Transition(.silencing, .accepted, .removing),
            Transition(.silencing, .refused, .removing),
            Transition(.silencing, .answerUnclear, .removing),
            Transition(.removing, .accepted, .idle),
            Transition(.removing, .refused, .idle),
            Transition(.removing, .answerUnclear, .idle),
        ] + PhaseName.allCases.map { Transition($0, .reset, .idle) }
}
