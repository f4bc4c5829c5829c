import BluetoothBase
import BluetoothHost

/// Attaching and detaching users.
extension SharedHost {
    /// Adds a user and sends it a snapshot.
    mutating func attach(_ user: UserID) {
        guard index(of: user) == nil else { return }
        var record = UserQueue(user: user)
        record.events.append(.adapter(status))
        for (peer, name) in names.all { record.events.append(.nameChanged(peer, name)) }
        for slot in slots where links[slot.index].isInUse {
            let link = links[slot.index].identifier
            guard var information = host.information(of: link) else { continue }
            information.serviceChanges = links[slot.index].serviceChanges.count
            record.events.append(.linkBegan(link, information))
            record.events.append(.sendCredit(link, Self.sendCredit))
            if let services = links[slot.index].preparation.services, links[slot.index].preparation.isOver {
                record.events.append(.servicesKnown(link, services))
            }
        }
        users.append(record)
    }

    /// Undoes everything that a user requested.
    mutating func detach(_ user: UserID, at now: Instant) {
        guard let index = index(of: user) else { return }
        _ = connects.removeAll { $0.call.user == user }
        scans.remove { $0.user == user }
        // Parameters that were valid for all scans are valid for the rest.
        try? updateScanning(at: now)
        if let index = advertisements.firstIndex(where: { $0.call.user == user }) {
            advertisements.remove(at: index)
            updateAdvertising(at: now)
        }
        _ = stopSets(where: { $0.user == user }, at: now)
        forgetSyncs(of: user, at: now)
        if pairingAgent?.user == user { dropPairingAgent(at: now) }
        if keyMaterialUser == user { keyMaterialUser = nil }
        forgetListeners(of: user)
        withdrawAll(of: user, at: now)
        for slot in slots where links[slot.index].isInUse { forget(user, slot, at: now) }
        reconcileConnecting(at: now)
        users.remove(at: index)
    }

    /// Ends a user's use of a link.
    private mutating func forget(_ user: UserID, _ slot: LinkSlot, at now: Instant) {
        let link = links[slot.index].identifier
        for operation in links[slot.index].scheduler.operations {
            guard case .call(let call) = operation.purpose, call.user == user else { continue }
            host.cancel(operation.identifier, on: link)
        }
        links[slot.index].scheduler.forget(user)
        links[slot.index].requests.removeAll { $0.call.user == user }
        links[slot.index].security.forget(user)
        links[slot.index].awaitingEnd.removeAll { $0.user == user }
        forgetChannels(of: user, slot, at: now)
        links[slot.index].credits.forget(user)
        _ = links[slot.index].indications.remove { $0.call.user == user }
        links[slot.index].subscriptions.forget(user)
        release(slot, for: user, at: now)
        reconcileSubscriptions(slot, at: now)
    }

    /// Ends the calls that need the adapter, because it is unusable. Activities that resume when it returns are kept.
    mutating func endActivities(_ error: HostError) {
        // Users get what was received before the end.
        tellPending()
        for call in scans.remove(where: { _ in true }) { end(call, .failure(error)) }
        for wanted in connects.removeAll(where: { _ in true }) { end(wanted.call, .failure(error)) }
        for index in advertisements.indices.reversed() where !advertisements[index].isStarted {
            end(advertisements.remove(at: index).call, .failure(error))
        }
        endPendingSets(error)
    }
}

/// The Device Names of peers connected in this run. Their number is limited, and the oldest one is removed first.
package struct PeerNames: Sendable {
    private var names: [PeerID: String] = [:]
    private var order: [PeerID] = []
    private var next = 0

    static let capacity = 1024

    package init() {}

    var all: [PeerID: String] { names }

    package subscript(peer: PeerID) -> String? { names[peer] }

    /// Sets the name of a peer. Returns false if it is unchanged.
    @discardableResult
    package mutating func set(_ name: String, of peer: PeerID) -> Bool {
        guard let known = names.updateValue(name, forKey: peer) else {
            if order.count < Self.capacity {
                order.append(peer)
            } else {
                names[order[next]] = nil
                order[next] = peer
                next = (next + 1) % Self.capacity
            }
            return true
        }
        return known != name
    }
}
