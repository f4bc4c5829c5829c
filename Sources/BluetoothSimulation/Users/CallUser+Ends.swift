import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// The ends of calls.
extension CallUser {
    func ended(_ token: CallToken, _ result: Result<CallResult, HostError>) {
        guard var call = context.end(token) else {
            return context.fail(.endsOnce, "call \(token.rawValue) ended without being pending: \(result)")
        }
        parts.ends.checkDeadline(call)
        parts.operations.endStored(call, result)
        parts.discovery.checkOutdated(call, result)
        if let peer = call.bondedPeer { run.pairings.noteRemovalEnded(station, peer, at: context.now) }
        switch result {
        case .success(let value): succeeded(&call, token, value)
        case .failure(let error):
            if case .client(let error) = error { parts.operations.compare(.failure(error), call) }
            if call.kind == .configure { parts.operations.noteConfigured(call, nil) }
            if call.kind == .indicate, let link = call.link { parts.sending.breakStream(of: link) }
            if !parts.ends.fits(error, call) {
                context.fail(.fittingReason, "\(call.kind.rawValue) ended with “\(error)”")
            }
        }
    }

    private func succeeded(_ call: inout CallLedger.Call, _ token: CallToken, _ result: CallResult) {
        switch (call.kind, result) {
        case (.connect, .link(let link)): connected(link)
        case (.subscribe, .done):
            // Values of this subscription start now, or have just started.
            guard !call.isCancelled, let link = call.link, context.links[link] != nil else { return }
            call.isStanding = true
            context.stand(call, token)
        case (.synchronize, .sync(let sync, let information)): parts.trains.established(sync, information, call)
        case (.advertise, .done), (.advertiseSet, .done), (.advertiseTrain, .done):
            guard !call.isCancelled else { return }
            call.isStanding = true
            context.stand(call, token)
        case (.publish, .published(let handles)):
            parts.services.published(handles, isConfigurable: call.isConfigurable)
        case (.openChannel, .channels(let link, let opened)): parts.channels.opened(opened, on: link, call)
        case (.configure, .gatt(.written)): parts.operations.noteConfigured(call, call.configuration)
        case (_, .gatt(let result)): parts.operations.check(result, of: call)
        case (.withdraw, .done): parts.services.withdrawn()
        case (.indicate, .done): parts.sending.checkConfirmed(call)
        case (.readRSSI, .rssi), (.updateParameters, .done), (.disconnect, .done), (.unsubscribe, .done),
            (.openChannel, .listening), (.reconfigureChannel, .done), (.dawdle, .done), (.beAgent, .done),
            (.beNoAgent, .done), (.removeBond, .done), (.tellOfTrain, .done), (.acceptTrains, .done),
            (.advertiseSubevents, .done):
            return
        case (.changeTrain, .done): parts.trains.breakTrain()
        case (.pair, .done): parts.pairing.checkPaired(call)
        default: context.fail(.fittingReason, "\(call.kind.rawValue) ended with \(result)")
        }
    }

    private func connected(_ identifier: LinkIdentifier) {
        guard let link = context.links[identifier] else {
            return context.fail(.linkEvents, "connect returned a link that does not exist")
        }
        context.links.hold(identifier)
        parts.pairing.checkProtection(link)
        parts.discovery.linkIsReady(link)
    }
}
