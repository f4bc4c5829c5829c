/// The controller's state for something that the host keeps running until further notice, such as scanning.
///
/// The host never scripts "stop, set, start". It records the desired state, and whenever no command is pending, moves
/// the controller one step towards it. A controller reset therefore needs no special handling: the state returns to
/// `idle`, and the activity starts again.
enum Activity<Parameters: Hashable & Sendable>: Hashable, Sendable {
    case idle
    /// Commands that lead to `running` have been sent to the controller.
    case starting(Parameters)
    case running(Parameters)
    case stopping
}
