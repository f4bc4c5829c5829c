import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothHost

/// A link to a central, as a peripheral manager uses it.
final class CentralLink: @unchecked Sendable {
    // Unchecked: what changes is guarded, or behind the lock of the session.

    let identifier: LinkIdentifier
    let peer: PeerID
    let attachment: Attachment
    /// What the central has sent, and waits for the application.
    let window = ReceiveWindow()

    /// ATT_MTU, in octets. Behind the lock of the session, as what follows.
    var mtu: Int
    /// Whether requests have been dropped, so that the link is to end.
    var isOverrun = false
    /// Whether the central has written without waiting for responses, so that it would not miss what is lost.
    var hasWrittenCommands = false

    /// The updates on their way to it.
    @Guarded private var updates = 0
    /// What the central is to be asked for when it has answered what it was asked before.
    @Guarded private var parameters = (wanted: ConnectionParameters?.none, isAsking: false)

    init(_ identifier: LinkIdentifier, _ information: LinkInformation, _ attachment: Attachment) {
        self.identifier = identifier
        self.attachment = attachment
        peer = information.peer
        mtu = information.mtu
    }

    /// Sends a value, in the way that the central has asked for.
    func update(_ value: [UInt8], at handle: AttributeHandle) {
        $updates.withLock { $0 += 1 }
        attachment.post(.update(identifier, handle, value))
    }

    /// Credits have come, at first for what was never sent.
    ///
    /// - Returns: How many updates were sent.
    func credited(_ count: Int) -> Int {
        $updates.withLock { updates in
            let sent = min(updates, count)
            updates -= sent
            return sent
        }
    }

    /// Asks the central for other connection parameters; where several are wanted while it has not answered, for the last.
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
