extension ControllerLifecycle: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case off, resetting, asking, up, failed
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        case start
        /// The answers to the command of a step. One that cannot be read counts as refused.
        case accepted, refused
        /// The controller has failed, or cannot be trusted any more.
        case failure
        /// The controller is gone.
        case loss
    }

    static let transitions: [Transition<ControllerLifecycle>] = [
        Transition(.off, .start, .resetting),
        Transition(.resetting, .accepted, .asking),
        Transition(.resetting, .refused, .failed),
        Transition(.asking, .accepted, .asking),
        Transition(.asking, .accepted, .up),
        // It has no buffers, or no LE.
        Transition(.asking, .accepted, .failed),
        // The host does without most answers.
        Transition(.asking, .refused, .asking),
        Transition(.asking, .refused, .up),
        Transition(.asking, .refused, .failed),
        Transition(.failed, .start, .resetting),

        // A controller that fails too often is given up.
        Transition(.resetting, .failure, .resetting),
        Transition(.resetting, .failure, .failed),
        Transition(.asking, .failure, .resetting),
        Transition(.asking, .failure, .failed),
        Transition(.up, .failure, .resetting),
        Transition(.up, .failure, .failed),

        Transition(.resetting, .loss, .off),
        Transition(.asking, .loss, .off),
        Transition(.up, .loss, .off),
        Transition(.failed, .loss, .off),
    ]
}
