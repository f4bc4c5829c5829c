import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothL2CAP

/// The reasons for which channels may end or fail.
extension UserChannels {
    /// Whether nothing sent on a link can be lost or changed.
    func isSure(_ link: UserLink) -> Bool {
        isUnchanged(link) && !run.incomplete.contains(station) && !run.incomplete.contains(link.peer)
    }

    /// Whether nothing sent on a link can be changed.
    func isUnchanged(_ link: UserLink) -> Bool {
        [station, link.peer].allSatisfy { !run.isTainted($0) && !run.isDamaged($0) }
    }

    /// Checks that the reason for a channel's end matches what happened.
    func check(_ end: ChannelEnd, of channel: UserChannel, _ link: UserLink) {
        let peer = link.peer
        guard isSure(link) else { return }
        let closers = run.channelClosers
        let isCrossed = closers.contains(.init(station: peer, peer: station))
        switch end {
        case .byThisDevice:
            if channel.closing == nil {
                fail(.fittingReason, "a channel was reported as closed by this device, but its user did not close it")
            }
            let arrived = run.channelArrivals[channel.outgoing] ?? 0
            if channel.closing == .orderly, !isCrossed, arrived != channel.lastSent {
                fail(
                    .valueMissing,
                    "a channel was closed when SDU \(arrived) of stream \(channel.outgoing) had arrived, and SDU "
                        + "\(channel.lastSent) was sent")
            }
        case .timedOut:
            if !context.mayTimeOut(link.identifier) { fail(.fittingReason, "a channel was not closed in time") }
        case .byPeer:
            if !isCrossed, !run.hasFaults(peer) {
                fail(.fittingReason, "a channel was reported as closed by the peer, but the peer did not close it")
            }
        case .violated(let violation): fail(.fittingReason, "a channel was closed because a peer sent \(violation)")
        case .dataLost: fail(.fittingReason, "a channel was closed because of lost data, but none was lost")
        case .linkEnded: return
        }
    }

    /// Whether opening one or more channels can fail for a reason.
    func fits(_ failure: ChannelOpeningFailure, _ call: CallLedger.Call) -> Bool {
        guard call.kind == .openChannel, let link = call.link.flatMap({ links[$0] }) else {
            return call.kind == .openChannel
        }
        switch failure {
        case .refused(.spsmNotSupported):
            return call.isForNobody || run.users[link.peer].first?.isAttached != true
                || run.hasFaults(link.peer) || run.channelClosers.contains { $0.station == link.peer }
        case .refused(.noResourcesAvailable): return run.scenario.hasChannels
        case .refused(.insufficientAuthentication), .refused(.insufficientEncryption): return run.hasSecurity
        case .timedOut: return call.link.map(context.mayTimeOut) ?? true
        case .cancelled: return call.isCancelled
        case .refused, .notSupported, .invalidResponse: return !isSure(link)
        }
    }

    /// Whether changing the MTU and MPS of a channel can fail for a reason.
    func fits(_ failure: ChannelReconfigurationFailure, _ call: CallLedger.Call) -> Bool {
        guard call.kind == .reconfigureChannel else { return false }
        switch failure {
        // The peer has closed the channel in the meantime.
        case .refused(.invalidDestinationCID): return true
        case .timedOut: return call.link.map(context.mayTimeOut) ?? true
        case .refused, .notSupported: return call.link.flatMap { links[$0] }.map { !isSure($0) } ?? true
        }
    }

    /// Checks that the last SDU sent has arrived.
    func checkArrival(_ channel: UserChannel, _ peer: Int) {
        let arrived = run.channelArrivals[channel.outgoing] ?? 0
        if arrived != channel.lastSent {
            fail(
                .valueMissing,
                "SDU \(arrived) of stream \(channel.outgoing) arrived last at station \(peer), SDU \(channel.lastSent) "
                    + "was sent")
        }
    }
}
