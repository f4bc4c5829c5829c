import BluetoothBase
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers

/// The L2CAP channels of one manager on a link.
final class ChannelPipes: Sendable {
    /// There are few, so finding one takes less time than hashing its ID.
    private let pipes = Guarded<[ChannelPipe]>(wrappedValue: [])

    /// Adds a channel that was opened. From now on, its data is received.
    func add(
        _ id: CreditBasedChannel.ID, _ information: ChannelInformation, on link: LinkIdentifier,
        _ attachment: Attachment
    ) -> ChannelPipe {
        let pipe = ChannelPipe(id, link, information, attachment)
        pipes.withLock { $0.append(pipe) }
        return pipe
    }

    subscript(id: CreditBasedChannel.ID) -> ChannelPipe? { pipes.withLock { pipes in pipes.first { $0.id == id } } }

    /// Handles an event of an open channel.
    func take(_ event: UserEvent.Channel, of batch: borrowing EventBatch) {
        switch event {
        case .received(let id, let payload, let share): self[id]?.receive(batch.octets(of: payload), share: share)
        case .credit(let id, let count): self[id]?.give(count)
        case .closed(let id, _): for pipe in takeAll({ $0.id == id }) { pipe.end() }
        case .opened: return
        }
    }

    /// The link has ended, or the adapter is gone.
    func endAll() { for pipe in takeAll({ _ in true }) { pipe.end() } }

    /// Closes the channels with a PSM, or all of them.
    func close(_ psm: CBL2CAPPSM? = nil) {
        for pipe in takeAll({ psm == nil || $0.information.psm == psm }) { pipe.close() }
    }

    private func takeAll(_ isMeant: (ChannelPipe) -> Bool) -> [ChannelPipe] {
        pipes.withLock { pipes in
            let meant = pipes.filter(isMeant)
            pipes.removeAll(where: isMeant)
            return meant
        }
    }
}
