import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothHost

/// A peripheral manager's use of a link to a central.
final class CentralLink: @unchecked Sendable {
    // Unchecked: mutable state is guarded, or behind the lock of the session.

    let identifier: LinkIdentifier
    let peer: PeerID
    let attachment: Attachment
    /// Requests of the central waiting for the application.
    let window = ReceiveWindow()

    /// ATT_MTU, in octets. Behind the lock of the session, like the properties below.
    var mtu: Int
    /// Whether requests were dropped, which ends the link.
    var isOverrun = false
    /// Whether the central has used Write Commands, whose loss it would not notice.
    var hasWrittenCommands = false

    /// The updates in flight to it.
    @Guarded private var updates = 0
    /// The parameters to request once the central has answered the previous request.
    @Guarded private var parameters = (wanted: ConnectionParameters?.none, isAsking: false)

    init(_ identifier: LinkIdentifier, _ information: LinkInformation, _ attachment: Attachment) {
        self.identifier = identifier
        self.attachment = attachment
        peer = information.peer
        mtu = information.mtu
    }

    /// Sends a value as a notification or an indication, as the central has subscribed.
    func update(_ value: [UInt8], at handle: AttributeHandle) {
        $updates.withLock { $0 += 1 }
        attachment.post(.update(identifier, handle, value))
    }

    /// Credits have arrived. The initial ones are not for sent updates.
    ///
    /// - Returns: How many updates were sent.
    func credited(_ count: Int) -> Int {
        $updates.withLock { updates in
            let sent = min(updates, count)
            updates -= sent
            return sent
        }
    }

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
        let token = attachment.runner.makeToken()
        _ = attachment.begin(.updateParameters(self), .updateParameters(identifier, next), token: token)
    }
}
