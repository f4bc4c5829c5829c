import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothUsers

/// One manager's use of a link.
class ManagedLink: @unchecked Sendable {
    // Unchecked: mutable state is behind the lock of the session.

    let identifier: LinkIdentifier
    let peer: PeerID
    let attachment: Attachment
    /// The credits for values that nobody answers.
    let lease: SendLease
    /// The L2CAP channels.
    let pipes: ChannelPipes
    /// What was received and waits for the application.
    private let window = ReceiveWindow()
    /// ATT_MTU, in octets. Behind the lock of the session, like the following property.
    var mtu: Int
    /// Whether something received was dropped, which ends the link.
    private var isOverrun = false

    /// The application is told that it can go on when it may send so many: being told costs more than sending.
    static let readyCount = SharedHost.sendCredit / 2

    init(
        _ identifier: LinkIdentifier, _ peer: PeerID, _ attachment: Attachment, _ lease: SendLease, mtu: Int,
        _ pipes: ChannelPipes = ChannelPipes()
    ) {
        self.pipes = pipes
        (self.identifier, self.peer, self.attachment, self.lease, self.mtu) = (identifier, peer, attachment, lease, mtu)
    }

    /// Whether something more may wait for the application. Where it may not the link ends, for what is left out would
    /// not be missed by anybody. Call with the lock of the session held.
    final func admits(_ count: Int) -> Bool {
        guard !isOverrun else { return false }
        switch window.add(count) {
        case .none: break
        case .hold: attachment.post(.holdReceiving(identifier))
        case .overflow: end(.consumerTooSlow)
        }
        return !isOverrun
    }

    /// Ends the link, and admits nothing that comes before the end: something is missing before it. Call with the lock of
    /// the session held.
    ///
    /// - Parameter reason: the reason that the end is reported with; nil for that of the controller.
    final func end(_ reason: DisconnectReason?) {
        isOverrun = true
        attachment.post(.disconnect(identifier, reason: reason))
    }

    /// The application is about to be told something that has waited.
    final func takeOut(_ count: Int) {
        if window.remove(count) { attachment.post(.resumeReceiving(identifier)) }
    }
}
