import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothHost

/// A peripheral manager's use of a link to a central.
final class CentralLink: ManagedLink, @unchecked Sendable {
    // Unchecked: as its superclass, or guarded.

    /// Whether the central has used Write Commands, whose loss it would not notice. Behind the lock of the session.
    var hasWrittenCommands = false

    /// The parameters to request once the central has answered the previous request.
    @Guarded private var parameters = (wanted: ConnectionParameters?.none, isAsking: false)

    /// The value handles that the central is subscribed to over this link, as reported to the application.
    @Guarded private var subscriptions: Set<AttributeHandle> = []

    init(_ identifier: LinkIdentifier, _ information: LinkInformation, _ attachment: Attachment) {
        super.init(identifier, information.peer, attachment, SendLease(), mtu: information.mtu)
    }

    func noteSubscription(to handle: AttributeHandle, isOver: Bool) {
        $subscriptions.withLock { subscriptions in
            if isOver { subscriptions.remove(handle) } else { subscriptions.insert(handle) }
        }
    }

    func isSubscribed(to handle: AttributeHandle) -> Bool { $subscriptions.withLock { $0.contains(handle) } }

    /// Asks the central for new connection parameters. While a request is pending, only the latest is kept.
    func ask(for wanted: ConnectionParameters?) {
        let next = $parameters.withLock { parameters -> ConnectionParameters? in
            if let wanted, parameters.isAsking {
                parameters.wanted = wanted
                return nil
            }
            defer { parameters.wanted = nil }
            let next = wanted ?? parameters.wanted
            parameters.isAsking = next != nil
            return next
        }
        guard let next else { return }
        attachment.begin(.updateParameters(self), .updateParameters(identifier, next))
    }
}
