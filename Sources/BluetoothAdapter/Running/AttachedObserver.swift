import BluetoothUsers

/// The observer of one user.
///
/// A class, because many observers have weak references, which make it expensive to retain them. Only this object is
/// retained while events are delivered.
final class AttachedObserver: Sendable {
    let user: UserID
    private let observer: any AdapterObserver

    init(_ user: UserID, _ observer: any AdapterObserver) {
        self.user = user
        self.observer = observer
    }

    func receive(_ batch: borrowing EventBatch) { observer.receive(batch) }
}
