/// A reference to the session of a manager, until the manager is gone.
///
/// A weak reference would make it several times more expensive to retain the session, which happens for each event.
final class SessionReference<Session: Sendable>: Sendable {
    private let reference = Guarded<Session?>(wrappedValue: nil)

    /// Nil before `begin(_:)`, and once the session has stopped.
    var session: Session? { reference.wrappedValue }

    func begin(_ session: Session) { reference.wrappedValue = session }

    /// Releases the session. It must call this when it stops, because it usually holds the objects that refer to it.
    func end() { reference.wrappedValue = nil }
}
