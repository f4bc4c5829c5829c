import BluetoothAdapter
import BluetoothHost
import BluetoothUsers

/// The L2CAP channels that a peripheral manager publishes.
extension ServerSession {
    /// A call to publish has ended. Call with the lock held.
    func channelPublished(_ result: Result<CallResult, HostError>) {
        var psm: CBL2CAPPSM = 0
        if case .success(.listening(let number)) = result { psm = number }
        if psm > 0 { channels.insert(psm) }
        inbox.append(.channelPublished(psm, result.error))
    }

    func publishChannel(isEncrypted: Bool, through attachment: Attachment) {
        waitForCaller()
        let listener = ChannelListener(requirement: isEncrypted ? .encrypted : .none)
        if !attachment.begin(.publishChannel, .listen(nil, listener)) {
            post(.channelPublished(0, CBError(.unknown)))
        }
    }

    /// Withdraws a channel, and closes those that centrals have opened.
    func unpublishChannel(_ psm: CBL2CAPPSM, through attachment: Attachment) {
        waitForCaller()
        let centrals = lock.withLock { channels.remove(psm).map { _ in Array(self.centrals.values) } }
        guard let centrals else { return post(.channelUnpublished(psm, CBError(.unknown))) }
        attachment.post(.stopListening(psm))
        for central in centrals { central.pipes.close(psm) }
        post(.channelUnpublished(psm, nil))
    }
}
