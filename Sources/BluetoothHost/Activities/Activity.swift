/// What the controller does about something the host wants to go on until further notice, such as scanning.
///
/// The host never scripts "stop, set, start": it states what is wanted, and whenever no command is pending,
/// moves it one step towards that. A reset of the controller then needs no code of its own: the state is `idle`
/// again, and what is wanted starts again.
enum Activity<Parameters: Hashable & Sendable>: Hashable, Sendable {
    case idle
    /// Commands that will lead to `running` are with the controller.
    case starting(Parameters)
    case running(Parameters)
    case stopping
}
