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
    /// The credits for values that are sent without a response.
    let lease: SendLease
    /// The L2CAP channels.
    let pipes: ChannelPipes
    /// Limits the received data that is queued for the application.
    private let window = ReceiveWindow()
    /// ATT_MTU, in octets. Behind the lock of the session, like the following property.
    var mtu: Int
    /// Whether received data was dropped, which ends the link.
    private var isOverrun = false

    /// The number of credits at which a waiting application is notified. A callback costs more than a send, so several
    /// sends share one.
    static let readyCount = SharedHost.sendCredit / 2

    init(
        _ identifier: LinkIdentifier, _ peer: PeerID, _ attachment: Attachment, _ lease: SendLease, mtu: Int,
        _ pipes: ChannelPipes = ChannelPipes()
    ) {
        self.pipes = pipes
        (self.identifier, self.peer, self.attachment, self.lease, self.mtu) = (identifier, peer, attachment, lease, mtu)
    }

    /// Whether another event may be queued for the application. If not, the link is disconnected, because the
    /// application could not detect the missing event. Call with the lock of the session held.
    final func admits(_ count: Int) -> Bool {
        guard !isOverrun else { return false }
        let isOverflown = window.add(count, on: identifier) { attachment.post($0) }
        if isOverflown { end(.consumerTooSlow) }
        return !isOverrun
    }

    /// Disconnects the link because an event is missing, and admits no later events. Call with the lock of the session
    /// held.
    ///
    /// - Parameter reason: the reason to report; nil to report the controller's.
    final func end(_ reason: DisconnectReason?) {
        isOverrun = true
        attachment.post(.disconnect(identifier, reason: reason))
    }

    /// An event leaves the queue and is about to be delivered.
    final func takeOut(_ count: Int) {
        window.remove(count, on: identifier) { attachment.post($0) }
    }
}
