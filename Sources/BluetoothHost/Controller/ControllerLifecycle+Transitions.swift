import BluetoothBase

extension ControllerLifecycle: StateMachine {
    enum PhaseName: String, CaseIterable, Hashable, Sendable {
        case off, resetting, asking, up, failed
    }

    enum EventName: String, CaseIterable, Hashable, Sendable {
        case start
        /// The answer to the command of a step. An answer that cannot be decoded counts as refused.
        case accepted, refused
        /// The controller has failed, or can no longer be trusted.
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
        // The controller has no data buffers, or does not support LE.
        Transition(.asking, .accepted, .failed),
        // The host can do without most answers.
        Transition(.asking, .refused, .asking),
        Transition(.asking, .refused, .up),
        Transition(.asking, .refused, .failed),
        Transition(.failed, .start, .resetting),

        // If a controller fails too often, the host stops resetting it.
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
