import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// Carries out the calls of users.
extension SharedHost {
    /// Carries out calls in order. An event reports the result of each call.
    public mutating func perform(_ calls: [HostCall], at now: Instant) {
        // A span reads a field of a call in place. An array would copy the call.
        let calls = calls.span
        for index in calls.indices {
            // Frequent calls are passed directly to the host.
            switch calls[index].kind {
            case .writeWithoutResponse(let link, let handle, let value):
                guard let slot = slot(of: link) else { continue }
                if mustWait(calls[index].user, keepsOrder: calls[index].keepsOrder, takesCredit: true, slot) {
                    work = .any
                    wait(calls[index], slot)
                    continue
                }
                if let known = calls[index].knownChanges,
                    links[slot.index].serviceChanges.contains(since: known, where: { $0.contains(handle) })
                {
                    returnCredit(to: calls[index].user, slot)
                    continue
                }
                send(for: calls[index].user, slot) { host throws(HostError) in
                    try host.writeWithoutResponse(value.span, to: handle, on: link)
                }
            case .notify(let link, let handle, let value):
                guard let slot = slot(of: link) else { continue }
                send(for: calls[index].user, slot) { host throws(HostError) in
                    try host.notify(handle, value: value.span, on: link)
                }
            case .update(let link, let handle, let value):
                guard let slot = slot(of: link) else { continue }
                update(calls[index].user, slot, handle, value, at: now)
            case .channel(let link, .send(let channel, let sdu)):
                guard let slot = slot(of: link) else {
                    performRare(calls[index], at: now)
                    continue
                }
                send(sdu, over: channel, for: calls[index].user, slot, at: now)
            case .channel(let link, .consume(let channel, let share)):
                consume(share, of: channel, on: link, for: calls[index].user)
            case .perform(let link, let operation):
                guard let slot = slot(of: link), isAttached(calls[index].user),
                    !mustWait(calls[index].user, keepsOrder: calls[index].keepsOrder, takesCredit: false, slot)
                else {
                    performRare(calls[index], at: now)
                    break
                }
                let call = UserCall(
                    user: calls[index].user, token: calls[index].token, keepsOrder: calls[index].keepsOrder)
                perform(operation, of: call, knownChanges: calls[index].knownChanges, slot, at: now)
            case .attach:
                work = .any
                attach(calls[index].user)
            default: performRare(calls[index], at: now)
            }
            if !host.events.isEmpty { drain(at: now) }
            if !turnsDue.isEmpty { beginDueCalls(at: now) }
        }
    }

    /// Starts the operation of a call that need not wait.
    private mutating func perform(
        _ operation: GATTClientOperation, of call: UserCall, knownChanges known: UInt32?, _ slot: LinkSlot,
        at now: Instant
    ) {
        var call = call
        if call.keepsOrder {
            call.turn = links[slot.index].identifier
            links[slot.index].scheduler.begin(call)
        }
        if let known, links[slot.index].serviceChanges.contains(since: known, where: { operation.isOutdated(by: $0) }) {
            work = .any
            return end(call, .failure(.servicesChanged))
        }
        start(operation, for: .call(call), slot, at: now)
    }

    private mutating func performRare(_ call: HostCall, at now: Instant) {
        work = .any
        // A call may arrive after its user has detached.
        guard index(of: call.user) != nil else { return }
        guard call.keepsOrder, let link = call.kind.linkOfTurn, let slot = slot(of: link) else {
            if isOutdated(call) { return end(UserCall(call), .failure(.servicesChanged)) }
            return carryOut(call.kind, UserCall(call), at: now)
        }
        if !waitsForTurn(call, slot) { begin(call, slot, at: now) }
    }

    private mutating func carryOut(_ kind: HostCall.Kind, _ call: UserCall, at now: Instant) {
        switch kind {
        case .attach, .writeWithoutResponse, .notify, .update: return
        case .detach: detach(call.user, at: now)
        case .cancel: cancel(call, at: now)
        case .scan(let filter, let parameters): scan(call, filter, parameters, at: now)
        case .advertise(let request): advertise(call, request, at: now)
        case .advertiseSet(let parameters): advertise(call, parameters, at: now)
        case .changeSet(let set, let parameters): change(call, set, parameters, at: now)
        case .setSubeventData(let set, let subevents): setSubeventData(call, set, subevents, at: now)
        case .synchronize(let advertisers, let parameters, let timeout):
            synchronize(call, advertisers, parameters, timeout, at: now)
        case .sync(let sync, let kind): carryOut(kind, call, sync, at: now)
        case .connect(let peer, let request): connect(call, peer, request, at: now)
        case .publish(let definition, let handle): publish(call, definition, at: handle, now)
        case .publishAll(let definitions): publish(call, definitions, at: now)
        case .withdraw(let declaration): withdraw(call, [declaration], at: now)
        case .withdrawAll(let declarations): withdraw(call, declarations, at: now)
        case .setValue(let value, let handle): setValue(call, value, of: handle)
        case .readOwnValue(let handle): end(call, .success(.value(host.server.database.value(of: handle))))
        case .answer(let request, let value):
            answer(call, request) { host throws(HostError) in try host.answer(request, value: value.span) }
        case .accept(let request):
            answer(call, request) { host throws(HostError) in try host.accept(request) }
        case .refuse(let request, let code):
            answer(call, request) { host throws(HostError) in try host.refuse(request, with: code) }
        case .authorize(let request):
            answer(call, request) { host throws(HostError) in try host.authorize(request, at: now) }
        case .listen(let psm, let listener): listen(call, psm, listener)
        case .stopListening(let psm): stopListening(call, on: psm)
        case .setPairingAgent(let description): setPairingAgent(call, description, at: now)
        case .answerKeyMaterialRequests(let answers):
            if answers { keyMaterialUser = call.user } else if keyMaterialUser == call.user { keyMaterialUser = nil }
            end(call, .success(.done))
        case .setKeyMaterial(let octets):
            do throws(GATTDatabaseError) {
                try host.setEncryptedDataKeyMaterial(octets, at: now)
                end(call, .success(.done))
            } catch {
                end(call, .failure(.database(error)))
            }
        case .makeOutOfBandData: makeOutOfBandData(call)
        case .bonds: end(call, .success(.bonds(host.bonds)))
        case .removeBond(let peer): removeBond(call, with: peer, at: now)
        case .forgetAttributes(let peer):
            forgetAttributes(of: peer, at: now)
            end(call, .success(.done))
        case .release(let link), .abandon(let link), .disconnect(let link, _), .readRSSI(let link),
            .updateParameters(let link, _),
            .setPreferredPHYs(let link, _, _), .power(let link, _), .holdReceiving(let link),
            .resumeReceiving(let link),
            .perform(let link, _), .write(let link, _, _),
            .subscribe(let link, _), .unsubscribe(let link, _), .unsubscribeAll(let link, _), .awaitTurn(let link),
            .indicate(let link, _, _), .pair(let link, _),
            .writeSigned(let link, _, _), .channel(let link, _),
            .answerPairing(let link, _), .pressKey(let link, _), .cancelPairing(let link),
            .transfer(let link, _, _), .acceptTransfers(let link, _):
            guard let slot = slot(of: link) else { return end(call, .failure(refusal ?? .noSuchLink)) }
            carryOut(kind, call, slot, at: now)
        }
    }

    /// Carries out a call on an existing link.
    mutating func carryOut(_ kind: HostCall.Kind, _ call: UserCall, _ slot: LinkSlot, at now: Instant) {
        switch kind {
        case .release: release(slot, for: call.user, at: now)
        case .abandon: abandonCalls(of: call.user, slot)
        case .disconnect(_, let reason): disconnect(call, slot, reason, at: now)
        case .readRSSI(let link):
            request(call, slot) { host throws(HostError) in try host.readRSSI(of: link, at: now) }
        case .updateParameters(let link, let parameters):
            request(call, slot) { host throws(HostError) in
                try host.updateParameters(parameters, of: link, at: now)
            }
        case .setPreferredPHYs(let link, let phys, let options):
            request(call, slot) { host throws(HostError) in
                try host.setPreferredPHYs(phys, options: options, of: link, at: now)
            }
        case .power(_, let kind): carryOut(kind, call, slot, at: now)
        case .holdReceiving: holdReceiving(slot, for: call.user)
        case .resumeReceiving: resumeReceiving(slot, for: call.user)
        case .perform(_, let operation): start(operation, for: .call(call), slot, at: now)
        case .write(let link, let handle, let value):
            let fits = value.count <= host.mtu(of: link) - 3
            start(fits ? .write(handle, value) : .writeLong(handle, value), for: .call(call), slot, at: now)
        case .indicate(_, let handle, let value):
            indicate(
                IndicationQueue.Entry(call: call, handle: handle, value: value, tookCredit: false), slot, at: now)
        case .writeSigned(let link, let handle, let value):
            do throws(HostError) {
                let isSent = try host.writeSigned(value.span, to: handle, on: link)
                end(call, isSent ? .success(.done) : .failure(.busy))
            } catch {
                end(call, .failure(error))
            }
        case .transfer(_, let what, let serviceData): transfer(call, what, serviceData, slot, at: now)
        case .acceptTransfers(_, let parameters): acceptTransfers(call, parameters, slot, at: now)
        case .channel(_, let kind): carryOut(kind, call, slot, at: now)
        case .pair(_, let request): pair(call, request, slot, at: now)
        case .answerPairing(_, let answer): answerPairing(call, answer, slot, at: now)
        case .pressKey(let link, let key): host.pressKey(key, on: link, at: now)
        case .cancelPairing(let link): host.cancelPairing(link, at: now)
        case .subscribe(_, let request): subscribe(call, request, slot, at: now)
        case .unsubscribe(_, let subscription): unsubscribe(call, from: subscription, slot, at: now)
        case .unsubscribeAll(_, let characteristic): unsubscribe(call, from: characteristic, slot, at: now)
        case .awaitTurn: end(call, .success(.done))
        case .attach, .detach, .cancel, .scan, .advertise, .advertiseSet, .changeSet, .setSubeventData, .synchronize,
            .sync, .connect, .publish, .publishAll, .withdraw,
            .withdrawAll, .setValue, .readOwnValue, .answer, .accept, .refuse, .authorize, .writeWithoutResponse,
            .notify, .update,
            .setPairingAgent, .answerKeyMaterialRequests, .setKeyMaterial, .bonds, .makeOutOfBandData, .removeBond,
            .forgetAttributes, .listen, .stopListening:
            return
        }
    }

    /// Cancels the scan, advertisement, subscription or call that a token identifies.
    private mutating func cancel(_ call: UserCall, at now: Instant) {
        if !scans.remove(where: { $0 == call }).isEmpty {
            // Parameters that were valid for all scans are also valid for some of them.
            return (try? updateScanning(at: now)) ?? ()
        }
        if let index = advertisements.firstIndex(where: { $0.call == call }) {
            let isPending = !advertisements.remove(at: index).isStarted
            if isPending { end(call, .failure(.cancelled)) }
            return updateAdvertising(at: now)
        }
        if advertisingSets.contains(where: { $0.call == call }) {
            for pending in stopSets(where: { $0 == call }, at: now) { end(pending, .failure(.cancelled)) }
            return
        }
        if cancelSync(call, at: now) { return }
        if !connects.removeAll(where: { $0.call == call }).isEmpty {
            end(call, .failure(.cancelled))
            return reconcileConnecting(at: now)
        }
        for slot in slots where links[slot.index].isInUse && cancel(call, slot, at: now) { return }
    }

    /// Returns false if the token identifies nothing on this link.
    private mutating func cancel(_ call: UserCall, _ slot: LinkSlot, at now: Instant) -> Bool {
        if let operation = links[slot.index].scheduler.operations.first(where: { $0.purpose == .call(call) }) {
            host.cancel(operation.identifier, on: links[slot.index].identifier)
            return true
        }
        if stopPowerReports(slot, where: { $0 == call }, at: now) { return true }
        if let waiting = links[slot.index].scheduler.remove(call) ?? links[slot.index].security.withdraw(call) {
            // End the waiting call, since only that one has a turn to end.
            end(waiting, .failure(.cancelled))
            return true
        }
        if let index = links[slot.index].requests.firstIndex(where: { $0.call == call }) {
            links[slot.index].requests.remove(at: index)
        } else if let index = links[slot.index].awaitingEnd.firstIndex(of: call) {
            links[slot.index].awaitingEnd.remove(at: index)
        } else if cancelOpening(call, slot, at: now) || cancelSubscribing(call, slot, at: now)
            || stopAwaiting(call, slot, .cancelled, at: now)
        {
            return true
        } else if links[slot.index].indications.remove(where: { $0.call == call }).isEmpty {
            return false
        }
        end(call, .failure(.cancelled))
        return true
    }

    /// Sends the host a request whose result arrives as an event.
    mutating func request(
        _ call: UserCall, _ slot: LinkSlot, _ body: (inout Host) throws(HostError) -> RequestIdentifier
    ) {
        do throws(HostError) {
            links[slot.index].requests.append(PendingRequest(identifier: try body(&host), call: call))
        } catch {
            end(call, .failure(error))
        }
    }

    private mutating func answer(
        _ call: UserCall, _ request: ServerRequest, _ body: (inout Host) throws(HostError) -> Void
    ) {
        do throws(HostError) {
            try body(&host)
            end(call, .success(.done))
        } catch {
            end(call, .failure(refusal ?? error))
        }
    }
}
