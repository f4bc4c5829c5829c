import BluetoothBase
import BluetoothHCI
import BluetoothHost

/// A sync with periodic advertising that a user has established or requested.
struct SyncRecord: Sendable {
    let identifier: PeriodicSyncIdentifier
    let call: UserCall
    /// Whether the user has been notified that the sync is established.
    var isEstablished: Bool
}

/// A user's call that concerns a sync with periodic advertising.
public enum SyncCall: Sendable {
    /// Ends the sync, without an event.
    case end
    /// See `Host.setReporting`; ends with `.done`.
    case setReporting(Bool, filtersDuplicates: Bool)
    /// See `Host.selectSubevents`; ends with `.done`.
    case selectSubevents([Int])
    /// See `Host.respond`; ends with `.done`.
    case respond(PeriodicReport, subevent: Int?, slot: Int, [UInt8])
}

/// The periodic advertising whose synchronization information is transferred to a peer.
public enum TransferredPeriodicAdvertising: Sendable {
    /// A sync that the user has established.
    case sync(PeriodicSyncIdentifier)
    /// The user's own advertising set, identified by the token of `HostCall.Kind.advertiseSet`.
    case set(CallToken)
}

extension UserEvent {
    /// An event of a sync with periodic advertising.
    public enum Periodic: Sendable {
        /// Data was received.
        case report(PeriodicReport)
        /// The sync has ended.
        case ended(PeriodicSyncEnd)
        /// The peer of a link transferred the sync, which is now established. It belongs to this user.
        indirect case transferred(LinkIdentifier, serviceData: UInt16, PeriodicSyncInformation)
    }
}

/// Periodic advertising that users receive or send.
extension SharedHost {
    mutating func synchronize(
        _ call: UserCall, _ advertisers: [PeriodicAdvertiser], _ parameters: PeriodicSyncParameters,
        _ timeout: Duration?, at now: Instant
    ) {
        if let refusal { return end(call, .failure(refusal)) }
        do throws(HostError) {
            let identifier = try host.synchronize(with: advertisers, parameters: parameters, timeout: timeout, at: now)
            syncs.append(SyncRecord(identifier: identifier, call: call, isEstablished: false))
        } catch {
            end(call, .failure(error))
        }
    }

    mutating func carryOut(_ kind: SyncCall, _ call: UserCall, _ sync: PeriodicSyncIdentifier, at now: Instant) {
        guard let index = syncs.firstIndex(where: { $0.identifier == sync && $0.call.user == call.user }) else {
            return end(call, .failure(refusal ?? .noSuchSync))
        }
        do throws(HostError) {
            switch kind {
            case .end:
                syncs.remove(at: index)
                host.endSync(sync, at: now)
            case .setReporting(let isReporting, let filtersDuplicates):
                try host.setReporting(isReporting, filtersDuplicates: filtersDuplicates, of: sync, at: now)
            case .selectSubevents(let subevents): try host.selectSubevents(subevents, of: sync, at: now)
            case .respond(let report, let subevent, let slot, let data):
                try host.respond(data, to: report, in: subevent, slot: slot, of: sync, at: now)
            }
            end(call, .success(.done))
        } catch {
            end(call, .failure(error))
        }
    }

    /// Changes what an advertising set of this user advertises.
    mutating func change(
        _ call: UserCall, _ set: CallToken, _ parameters: AdvertisingParameters, at now: Instant
    ) {
        guard let index = self.index(ofSet: set, call.user) else { return end(call, .failure(.invalidParameters)) }
        do throws(HostError) {
            try host.startAdvertising(parameters, as: advertisingSets[index].handle, at: now)
            if let former = advertisingSets[index].change { end(former, .failure(.cancelled)) }
            advertisingSets[index].change = call
        } catch {
            end(call, .failure(error))
        }
    }

    mutating func setSubeventData(
        _ call: UserCall, _ set: CallToken, _ subevents: [PeriodicSubeventData], at now: Instant
    ) {
        guard let index = self.index(ofSet: set, call.user) else { return end(call, .failure(.invalidParameters)) }
        do throws(HostError) {
            try host.setSubeventData(subevents, of: advertisingSets[index].handle, at: now)
            end(call, .success(.done))
        } catch {
            end(call, .failure(error))
        }
    }

    func index(ofSet token: CallToken, _ user: UserID) -> Int? {
        advertisingSets.firstIndex { $0.call.token == token && $0.call.user == user }
    }

    /// Transfers the synchronization information of periodic advertising to the peer of a link.
    mutating func transfer(
        _ call: UserCall, _ what: TransferredPeriodicAdvertising, _ serviceData: UInt16, _ slot: LinkSlot,
        at now: Instant
    ) {
        let link = links[slot.index].identifier
        switch what {
        case .sync(let sync):
            request(call, slot) { host throws(HostError) in
                try host.transfer(sync, serviceData: serviceData, to: link, at: now)
            }
        case .set(let token):
            guard let index = self.index(ofSet: token, call.user) else {
                return end(call, .failure(.invalidParameters))
            }
            let handle = advertisingSets[index].handle
            request(call, slot) { host throws(HostError) in
                try host.transfer(handle, serviceData: serviceData, to: link, at: now)
            }
        }
    }

    /// Accepts the syncs that the peer of a link transfers, or stops accepting them. Only one user of a link receives
    /// them: the last one that made this call.
    mutating func acceptTransfers(
        _ call: UserCall, _ parameters: PeriodicSyncParameters?, _ slot: LinkSlot, at now: Instant
    ) {
        if parameters == nil, links[slot.index].syncReceiver != call.user { return end(call, .success(.done)) }
        links[slot.index].syncReceiver = parameters == nil ? nil : call.user
        let link = links[slot.index].identifier
        request(call, slot) { host throws(HostError) in
            try host.acceptTransfers(parameters, on: link, at: now)
        }
    }

    // MARK: Events

    mutating func route(_ event: HostEvent.Periodic, of sync: PeriodicSyncIdentifier, at now: Instant) {
        if case .transferred(let link, let serviceData, let information) = event {
            guard let slot = slot(of: link), let user = links[slot.index].syncReceiver, index(of: user) != nil else {
                return host.endSync(sync, at: now)
            }
            syncs.append(SyncRecord(identifier: sync, call: UserCall(user: user, token: .none), isEstablished: true))
            return tell(.periodic(sync, .transferred(link, serviceData: serviceData, information)), to: user)
        }
        guard let index = syncs.firstIndex(where: { $0.identifier == sync }) else { return }
        let call = syncs[index].call
        switch event {
        case .established(let information):
            syncs[index].isEstablished = true
            end(call, .success(.sync(sync, information)))
        case .failed(let error):
            syncs.remove(at: index)
            end(call, .failure(status == .lost ? .adapterRemoved : error))
        case .report(let report):
            tell(.periodic(sync, .report(report)), to: call.user)
        case .ended(let reason):
            syncs.remove(at: index)
            tell(.periodic(sync, .ended(reason)), to: call.user)
        case .transferred: return
        }
    }

    mutating func route(_ event: HostEvent.Subevents, of set: AdvertisingHandle) {
        guard let record = advertisingSets.first(where: { $0.handle == set }) else { return }
        tell(.subevents(record.call.token, event), to: record.call.user)
    }

    /// Ends the sync that a call requested. Returns false if the call requested none.
    mutating func cancelSync(_ call: UserCall, at now: Instant) -> Bool {
        guard let index = syncs.firstIndex(where: { $0.call == call }) else { return false }
        let record = syncs.remove(at: index)
        host.endSync(record.identifier, at: now)
        if !record.isEstablished { end(call, .failure(.cancelled)) }
        return true
    }

    /// Ends the syncs of a user.
    mutating func forgetSyncs(of user: UserID, at now: Instant) {
        let theirs = syncs.filter { $0.call.user == user }
        syncs.removeAll { $0.call.user == user }
        for record in theirs { host.endSync(record.identifier, at: now) }
        for slot in slots where links[slot.index].isInUse && links[slot.index].syncReceiver == user {
            links[slot.index].syncReceiver = nil
            // This fails only if the link or the controller is gone, in which case there is nothing to stop.
            _ = try? host.acceptTransfers(nil, on: links[slot.index].identifier, at: now)
        }
    }
}
