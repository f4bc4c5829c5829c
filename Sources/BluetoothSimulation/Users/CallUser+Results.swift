import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP

/// How calls end.
extension CallUser {
    func ended(_ token: CallToken, _ result: Result<CallResult, HostError>) {
        guard var call = calls.end(token) else {
            return fail(.endsOnce, "call \(token.rawValue) ended, which is not pending: \(result)")
        }
        checkDeadline(call)
        endStored(call, result)
        switch result {
        case .success(let value): succeeded(&call, token, value)
        case .failure(let error):
            if case .client(let error) = error { compare(.failure(error), call) }
            if call.kind == .configure { noteConfigured(call, nil) }
            if call.kind == .indicate, let link = call.link { breakStream(of: link) }
            if !fits(error, call) { fail(.fittingReason, "\(call.kind.rawValue) ended with “\(error)”") }
        }
    }

    private func succeeded(_ call: inout CallLedger.Call, _ token: CallToken, _ result: CallResult) {
        switch (call.kind, result) {
        case (.connect, .link(let link)):
            guard let index = index(of: link) else { return fail(.linkEvents, "connect gave a link that is not there") }
            links[index].isHeld = true
            checkProtection(index)
        case (.subscribe, .done):
            // Values of this subscription begin now, or have just begun.
            guard !call.isCancelled, let link = call.link, index(of: link) != nil else { return }
            call.isStanding = true
            calls.stand(call, token)
        case (.synchronize, .sync(let sync, let information)): established(sync, information, call)
        case (.advertise, .done), (.advertiseSet, .done), (.advertiseTrain, .done):
            guard !call.isCancelled else { return }
            call.isStanding = true
            calls.stand(call, token)
        case (.publish, .published(let handles)):
            if call.isConfigurable { run.publishedConfigurable(handles, at: station) } else { published(handles) }
        case (.openChannel, .channels(let link, let opened)): channelsOpened(opened, on: link, call)
        case (.configure, .gatt(.written)): noteConfigured(call, call.configuration)
        case (_, .gatt(let result)): check(result, of: call)
        case (.withdraw, .done): run.serviceChangeCount += 1
        case (.readRSSI, .rssi), (.updateParameters, .done), (.disconnect, .done), (.unsubscribe, .done),
            (.openChannel, .listening), (.reconfigureChannel, .done), (.indicate, .done), (.dawdle, .done),
            (.beAgent, .done), (.beNoAgent, .done), (.removeBond, .done), (.tellOfTrain, .done), (.acceptTrains, .done),
            (.advertiseSubevents, .done):
            return
        case (.changeTrain, .done): breakTrain()
        case (.pair, .done):
            guard let link = call.link, let index = index(of: link) else { return }
            if !links[index].information.security.isEncrypted, !run.isDamaged(station) {
                fail(.protection, "pair succeeded, and the link is not encrypted")
            }
        default: fail(.fittingReason, "\(call.kind.rawValue) ended with \(result)")
        }
    }

    private func published(_ handles: GATTServiceHandles) {
        run.serviceChangeCount += 1
        if isPublisher, run.services[station] == nil {
            run.published(handles, at: station)
        } else {
            passing.append(handles)
        }
    }

    /// Whether an error can be what became of a call.
    private func fits(_ error: HostError, _ call: CallLedger.Call) -> Bool {
        switch error {
        // What a set was to become ends with the set, and whom it was to connect to.
        case .cancelled:
            call.isCancelled || call.kind == .changeTrain && !isAdvertisingPeriodically || call.isInSubevent
        // A peer that nothing is wrong with answers in time, and what stands behind a request ends with it (Core 5.4,
        // Vol 3, Part F, 3.3.3).
        case .timedOut: call.hasTimeout || call.link.map(mayTimeOut) ?? run.hasFaults(station)
        case .peerNotResponding: call.kind == .connect && call.hasTimeout
        case .noSuchLink: call.link != nil && call.link.flatMap(index) == nil
        case .disconnected: call.link != nil || call.kind == .connect
        case .notReady: status != .ready || run.hasFaults(station)
        case .adapterRemoved, .controllerReset: run.hasFaults(station)
        // Hosts try such an attempt again.
        case .controller(.connectionFailedToBeEstablished): false
        case .controller: run.hasFaults(station) || call.kind != .read
        // What a controller can do is not known where its answers about it were cut.
        case .unsupported, .advertisingDataTooLong:
            call.kind == .advertise && run.isTainted(station) || isOfSets(call) && mayLackSets
        case .busy where isOfSets(call) || call.kind == .advertise: mayHaveTooMuch
        case .busy:
            calls.open.count > 16 || call.kind == .pair || call.kind == .openChannel || call.kind == .reconfigureChannel
                || call.kind == .updateParameters || call.kind == .indicate && hasManyIndications(call)
        // The set may have ended by then.
        case .invalidParameters:
            [.updateParameters, .beAgent, .tellOfTrain, .changeTrain, .advertiseSubevents].contains(call.kind)
                || call.isInSubevent
        case .alreadyConnected: call.kind == .connect
        case .connectionFailedToBeEstablished: call.kind == .connect && (run.mayFailToConnect || call.isInSubevent)
        case .refusedByPeer: call.kind == .updateParameters
        case .client: call.link != nil
        // One that has to wait for another does so in the host.
        case .server(let error): call.kind == .indicate && error != .indicationPending || call.kind == .dawdle
        case .notFound: call.kind == .subscribe
        case .servicesChanged: call.link != nil && run.serviceChangeCount > 0
        case .database: call.kind == .publish || call.kind == .withdraw
        case .advertisingData: call.kind == .advertise
        // What was refused because it needs protection, and waited for that, ends with the refusal.
        case .pairing(let error):
            call.kind == .pair
                && (call.link.flatMap(index).map { fits(error, run.pairings.current(station, links[$0].peer), $0) }
                    ?? true)
        case .noSuchSync: call.kind == .tellOfTrain
        case .noSuchChannel: call.kind == .reconfigureChannel
        case .channel(let failure): fits(failure, call)
        case .channelReconfiguration(let failure): fits(failure, call)
        case .notBonded: call.kind == .removeBond || call.kind == .pair
        }
    }

    /// What has a time limit ends with it, or before.
    func checkDeadline(_ call: CallLedger.Call) {
        // Some time passes between the end and its event, where the host is busy.
        guard let deadline = call.deadline, run.world.now > deadline.advanced(by: .seconds(1)), !call.isCancelled,
            !run.hasFaults(station), !run.hasSecurity
        else { return }
        fail(.fittingReason, "\(call.kind.rawValue) goes on after its time limit")
    }

    func mayTimeOut(_ link: LinkIdentifier) -> Bool {
        guard let peer = index(of: link).map({ links[$0].peer }) else { return true }
        return [station, peer].contains { run.hasFaults($0) || run.hasHeld.contains($0) }
    }

    // MARK: - Results of the client

    private func check(_ result: GATTClientResult, of call: CallLedger.Call) {
        guard let link = call.link, let index = index(of: link) else {
            return fail(.endsOnce, "\(call.kind.rawValue) succeeded on a link that is gone")
        }
        let peer = links[index].peer
        // An enhanced bearer takes an encrypted link, and has an ATT_MTU of its own: up to what this host takes, 64 octets at least.
        let mtu = links[index].information.mtu
        let offered = Int(run.scenario.devices[station].preferredMTU)
        let longest = (run.isEncrypted(station, peer) ? max(64, mtu, offered) : mtu) - 1
        if call.kind == .read, case .value(let value) = result, value.count > longest {
            fail(.mtu, "\(value.count) octets were read at an ATT_MTU of \(mtu)")
        }
        guard !run.isTainted(station), !run.isTainted(peer) else { return }
        compare(.success(result), call)
        switch result {
        case .value(let value): check(value.span, from: peer, call)
        case .values(let values):
            for value in values { check(value.value.span, from: peer, call) }
        case .database(let database):
            checkFreshness(database, call, index)
            discovered(database, index)
            compare(database, call)
        case .mtu, .services, .includes, .characteristics, .descriptors, .written: return
        }
    }

    /// A value that was read is one that was put there, and none that cannot be read.
    private func check(_ bytes: Span<UInt8>, from peer: Int, _ call: CallLedger.Call) {
        // What the constants of the stack's own services, and the passing service, consist of is not for here to say.
        guard bytes.count >= SimulatedValue.leastCount, bytes[0] & 0xF0 == 0xA0 else { return }
        guard let value = SimulatedValue(bytes) else {
            // Several values end to end are only looked at as a whole, and between the parts of a long one somebody may
            // write.
            if call.kind == .read, run.anyTaintedStation == nil {
                fail(.valueOrder, "\(call.kind.rawValue) gave \(Array(bytes.copied().prefix(16)))…, which nobody wrote")
            }
            return
        }
        switch value.characteristic {
        case .locked:
            if !run.isEncrypted(station, peer) {
                fail(.permission, "\(call.kind.rawValue) gave a value for encrypted links")
            }
        case .writeOnly: fail(.permission, "\(call.kind.rawValue) gave a value that cannot be read")
        case .constant, .dynamic:
            if value.station != peer { fail(.valueOrder, "a value of station \(value.station) from station \(peer)") }
        case .stream, .stored, .commands, .card: return
        }
    }

    private func discovered(_ database: DiscoveredDatabase, _ index: Int) {
        links[index].handles = [:]
        links[index].wereFoundWatched = links[index].isWatched
        for characteristic in database.characteristics {
            for known in SimulatedService.Characteristic.allCases
            where SimulatedService.uuid(of: known) == characteristic.uuid {
                links[index].handles[known] =
                    characteristic.valueHandle...max(characteristic.valueHandle, characteristic.endHandle)
            }
        }
    }
}

extension Span<UInt8> {
    func copied() -> [UInt8] { withUnsafeBufferPointer { Array($0) } }
}
