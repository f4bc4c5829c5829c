import BluetoothBase
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers
import Foundation

/// The L2CAP channels of one manager on a link.
final class ChannelPipes: @unchecked Sendable {
    // Unchecked: mutable state is behind `lock`.

    private let lock = NSLock()
    private var pipes: [CreditBasedChannel.ID: ChannelPipe] = [:]

    /// A channel is open. What comes over it has a place from now on.
    func add(
        _ id: CreditBasedChannel.ID, _ information: ChannelInformation, on link: LinkIdentifier,
        _ attachment: Attachment
    ) -> ChannelPipe {
        let pipe = ChannelPipe(id, link, information, attachment)
        lock.withLock { pipes[id] = pipe }
        return pipe
    }

    subscript(id: CreditBasedChannel.ID) -> ChannelPipe? { lock.withLock { pipes[id] } }

    /// Takes what happened to a channel that is open.
    func take(_ event: UserEvent.Channel, of batch: borrowing EventBatch) {
        switch event {
        case .received(let id, let payload): self[id]?.receive(Array(batch.bytes(of: payload)))
        case .credit(let id, let count): self[id]?.give(count)
        case .closed(let id, _): lock.withLock { pipes.removeValue(forKey: id) }?.end()
        case .opened: return
        }
    }

    /// The link is gone, or the adapter.
    func endAll() { for pipe in takeAll({ _ in true }) { pipe.end() } }

    /// Closes the channels to a service, or all of them.
    func close(_ psm: CBL2CAPPSM? = nil) {
        for pipe in takeAll({ psm == nil || $0.information.psm == psm }) { pipe.close() }
    }

    private func takeAll(_ isMeant: (ChannelPipe) -> Bool) -> [ChannelPipe] {
        lock.withLock {
            let meant = pipes.values.filter(isMeant)
            for pipe in meant { pipes[pipe.id] = nil }
            return meant
        }
    }
}
