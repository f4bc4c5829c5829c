import BluetoothAdapter
import BluetoothBase
import BluetoothCrypto
import BluetoothHost
import BluetoothSMP
import VirtualRadio

/// Pairing, bonds and restarts in worlds with security.
extension ScenarioRun {
    var hasSecurity: Bool { scenario.security != nil }

    func securityConfiguration(of index: Int) -> SecurityConfiguration? {
        guard let security = scenario.security, index < security.count else { return nil }
        let drawn = security[index]
        var policy = SecurityPolicy(
            requiresSecureConnections: drawn.requiresSecureConnections,
            offersSecureConnections: drawn.offersSecureConnections, minimumKeySize: drawn.minimumKeySize,
            maximumKeySize: drawn.maximumKeySize)
        // Half of the stations also protect their bonds strictly.
        policy.requirement.protectsBonds = drawn.minimumKeySize == 16
        return SecurityConfiguration(
            crypto: LibraryToolbox(), entropy: SeededGenerator(seed: world.order.next()), policy: policy)
    }

    func addBondStore(_ index: Int) {
        guard hasSecurity else { return }
        let store = ObservedBondStore { [unowned self] in world.now }
        store.willSave = { [unowned self] in checkBond($0, replacing: $1, at: index) }
        store.willRemove = { [unowned self] in checkRemoval($0, at: index) }
        bondStores.append(store)
        world.stations[index].security = SecurityInspector(
            report: { [unowned self] in note($0, at: index) },
            bondedKey: { [unowned self] peer, diversifier, random in
                // A broken device may be bonded under an address that belongs to no station. Also, the answer may have
                // waited for a command credit while the bond was removed.
                bondStores[index].everKept
                    .filter { anyTaintedStation != nil || PeerID($0.address) == PeerID(peer) }
                    .compactMap(\.peripheralKey)
                    .first { $0.encryptedDiversifier == diversifier && $0.random == random }?.key
            },
            // The peer may use a key immediately, before the store has it.
            isKeyUnderWay: { [unowned self] in isStoring(index) },
            isLocked: { [unowned self] in isLocked($0, at: index) },
            identity: { [unowned self] used in
                scenario.hasPrivateAddresses ? station(at: used).map { address(of: $0) } ?? used : used
            })
    }

    /// Gives the process of a station the disk for its bonds; nil if bonds are stored immediately.
    func addDisk(_ index: Int) -> (@Sendable () -> SimulatedWrite)? {
        guard scenario.slowStorage == true else { return nil }
        let disk = SimulatedDisk(
            seed: scenario.seed ^ UInt64(index) << 32 ^ world.now.nanoseconds,
            hasFailed: disks[index]?.hasFailed ?? false, now: { [unowned self] in world.now })
        disks[index] = disk
        return { disk.draw() }
    }

    /// Ends the process of a station abruptly, and restarts it with its bonds.
    func restart(_ index: Int, after pause: Duration) {
        guard hasSecurity, index < runners.count, !users[index].isEmpty else { return }
        for user in users[index] {
            endedCallCount += user.callCount
            user.leave()
        }
        users[index] = []
        runners[index].kill()
        pairings.noteCancelled(index)
        world.schedule(at: world.now.advanced(by: pause)) { [unowned self] in begin(index) }
    }

    private func begin(_ index: Int) {
        // Drop the packets that the controller still has for the previous process.
        world.air.fire(at: world.now)
        readKeptSubscriptions(of: index)
        pairings.forgetOpenRemovals(of: index)
        guard let runner = openAdapter(index, again: true) else { return }
        runners[index] = runner
        let faces = scenario.devices[index].users.map(\.face)
        users[index] = faces.enumerated().map { makeUser($1, index, $0) }
        for user in users[index] { user.join() }
    }

    // MARK: - Known state

    /// Whether a host was notified that its link with a peer is encrypted.
    func isEncrypted(_ station: Int, _ peer: Int) -> Bool {
        world.stations[station].security?.isEncrypted(with: address(of: peer)) ?? false
    }

    /// Whether a host was notified that a link is encrypted, by the peer's address: a broken device may claim another
    /// address than its own.
    func isEncrypted(_ station: Int, _ link: UserLink) -> Bool {
        world.stations[station].security?.isEncrypted(with: link.information.address) ?? false
    }

    /// Whether both hosts know that their link is encrypted. If a pairing fails at its end, one of them may not know.
    func isSurelyEncrypted(_ station: Int, _ peer: Int) -> Bool {
        guard isEncrypted(station, peer), isEncrypted(peer, station), areBonded(station, peer),
            let attempt = pairings.current(station, peer)
        else { return false }
        return attempt.ends.count == 2
            && attempt.ends.values.allSatisfy { if case .success = $0 { true } else { false } }
    }

    /// Whether the link was ever encrypted, because queues and tasks may deliver events late.
    func wasEncrypted(_ station: Int, _ peer: Int) -> Bool {
        world.stations[station].security?.wasEncrypted(with: address(of: peer)) ?? false
    }

    /// The bond that a station has stored for another.
    func bond(_ station: Int, with peer: Int) -> Bond? {
        bondStores.isEmpty ? nil : bondStores[station].bond(with: address(of: peer))
    }

    /// Whether two stations have stored the same keys.
    func areBonded(_ station: Int, _ peer: Int) -> Bool {
        guard let bond = bond(station, with: peer), let other = self.bond(peer, with: station) else { return false }
        return bond.fits(other)
    }

    /// Whether a change of a station's bonds is being written to disk, so that its host and its store may differ.
    func isStoring(_ station: Int) -> Bool { disks[station]?.isBusy ?? false }

    /// Whether two stations have stored the same keys, and neither is still writing a change.
    func areSurelyBonded(_ station: Int, _ peer: Int) -> Bool {
        areBonded(station, peer) && !isStoring(station) && !isStoring(peer)
    }

    /// Whether values of a stream may be missing: some were cancelled, or dropped while a bonded peer was not
    /// authenticated yet.
    func mayMiss(_ stream: UInt32, _ station: Int, _ peer: Int) -> Bool {
        brokenStreams.contains(stream) || pairings.isEverBonded(station, peer) || mayHaveLost(station)
    }

    /// Whether a station with security may have lost the information that it is subscribed, which is an operation that
    /// is repeated once a link is protected.
    func mayHaveLost(_ station: Int) -> Bool { hasSecurity && incomplete.contains(station) }

    /// Whether any process restarts.
    var hasRestarted: Bool { scenario.faults.contains { $0.kind == .restart } }

    private func note(_ event: SecurityInspector.Event, at index: Int) {
        switch event {
        case .linkBegan(let address):
            if let peer = station(at: address) { pairings.noteLink(index, peer, at: world.now) }
        case .requestSent(let address):
            guard let peer = station(at: address) else { return }
            let isWanted = users[index].contains { $0.wantsPairing(with: peer) } || pairings.wasWanted(index, peer)
            pairings.requestSent(index, to: peer, isWanted: isWanted)
            // If a bond is stored late, or not at all, the keys may not exist yet.
            if scenario.asksAgain, scenario.slowStorage != true,
                pairings.requestCount(of: index, to: peer) > pairings.wishCount(of: index, for: peer)
            {
                failBond("a pairing with station \(peer), which had all it asked for", index)
            }
        case .requestReceived(let address):
            guard let peer = station(at: address) else { return }
            pairings.requestReceived(index, from: peer)
        case .encrypted(let address):
            guard let peer = station(at: address) else { return }
            pairings.current(index, peer)?.encrypted.insert(index)
        }
    }

    /// Whether octets are a value of the characteristic for encrypted links. If the service has moved, other values may
    /// be written to its handle.
    private func isLocked(_ bytes: Span<UInt8>, at index: Int) -> Bool {
        let beginning = bytes.extracting(first: 20)
        // Shorter values may be parts of cards.
        guard beginning.count >= 16, SimulatedValue(beginning)?.characteristic == .locked, !isDamaged(index),
            runners.indices.allSatisfy({ hasOnePlace($0) && !isTainted($0) })
        else { return false }
        return true
    }

    // MARK: - Bonds

    /// A host is about to save a bond.
    private func checkBond(_ bond: Bond, replacing old: Bond?, at index: Int) {
        guard let peer = station(at: bond.address) else {
            // A broken device that claims another identity.
            for other in runners.indices { pairings.noteBond(index, other) }
            return
        }
        pairings.noteBond(index, peer)
        guard !isDamaged(index) else { return }
        let isNew = old.map { $0.centralKey != bond.centralKey || $0.peripheralKey != bond.peripheralKey } ?? true
        guard isNew else { return }
        pairings.noteNewBond(index, peer, at: world.now)
        guard let attempt = pairings.concluded(index, peer, at: world.now) else {
            return failBond("a bond with station \(peer), with which there was no pairing", index)
        }
        // A bond that is stored late may result from an earlier attempt. One of the attempts must allow it.
        let attempts = scenario.slowStorage == true ? pairings.attempts(index, peer) : [attempt]
        if !attempts.contains(where: { $0.isAgreed(by: index) }) {
            failBond("a bond with station \(peer), to which nobody here has agreed", index)
        }
        if !isDamaged(peer), !attempts.contains(where: { $0.isAgreed(by: peer) }) {
            failBond("a bond to which nobody at station \(peer) has agreed", index)
        }
        // With a slow or full disk the store may still have a bond that the host has already discarded.
        if let old, bond.strength.protectsLess(than: old.strength), scenario.slowStorage != true {
            failBond("\(bond) takes the place of \(old)", index)
        }
        if !attempts.contains(where: { $0.isAuthenticated(by: bond.strength.model) }) {
            checkStrength(bond.strength, attempt, index)
        }
    }

    /// Once both sides have reported the same pairing, both must have its keys, and no keys of an earlier one.
    func checkAgreement(_ station: Int, _ peer: Int) {
        guard pairings.haveAgreed(station, peer), !isDamaged(station), !isTainted(peer), !isDamaged(peer),
            !areBonded(station, peer)
        else { return }
        failBond("a pairing with station \(peer) that both have reported, and whose keys they do not share", station)
    }

    private func checkRemoval(_ peer: PeerID, at index: Int) {
        guard let other = station(at: peer.firstAddress) else { return }
        keptSubscriptions[Way(station: index, peer: other)] = nil
        // A bond whose pairing waited too long for the disk is removed once it is stored. No user was notified of it.
        let isVoid = scenario.slowStorage == true && !pairings.reportedPeers(of: index).contains(other)
        if !pairings.isRemovalWanted(index, other), !isVoid {
            failBond("a bond was removed that nobody had removed", index)
        }
        pairings.noteRemoved(index, other)
    }

    func checkStrength(_ strength: KeyStrength, _ attempt: PairingModel.Attempt, _ index: Int) {
        guard strength.isAuthenticated, !attempt.isAuthenticated(by: strength.model) else { return }
        world.fail(
            .authentication, "keys of \(strength.model.rawValue), although the users saw \(attempt.evidence)",
            at: world.station(index))
    }

    /// Checks that the host and the store have the same bonds, and that links between bonded stations are encrypted.
    func checkBonds(_ index: Int) {
        let stored = bondStores[index].all, known = runners[index].bonds
        let areSame =
            stored.count == known.count
            && stored.allSatisfy { bond in known.contains { $0.peer == bond.peer && $0.hasSameKeys(as: bond) } }
        if !areSame, !isStoring(index) {
            failBond("the host has \(known.count) bonds, the store \(stored.count)", index)
        }
        for peer in pairings.reportedPeers(of: index) where bond(index, with: peer) == nil {
            failBond("the bond with station \(peer) was reported, and has gone", index)
        }
        for case let user as CallUser in users[index] where user.isAttached {
            for link in user.links where !isDamaged(link.peer) && areSurelyBonded(index, link.peer) {
                // The key of a cancelled pairing does not count.
                let isCalledOff = pairings.isCancelling(index) || pairings.isCancelling(link.peer)
                if !link.information.security.isEncrypted, !isCalledOff, isOlder(bondWith: link.peer, than: link, index)
                {
                    world.fail(
                        .protection,
                        "the link with station \(link.peer) is not encrypted, although both ends have the key",
                        at: world.station(index))
                }
            }
        }
    }

    /// Whether one of two hosts may have been without their bond for some time since an instant, although its store had
    /// it.
    func hasForgottenBond(_ station: Int, _ peer: Int, since instant: Instant) -> Bool {
        pairings.isForgotten(station, peer, since: instant) || pairings.isForgotten(peer, station, since: instant)
    }

    /// Whether the bond existed when a link was established.
    func isOlder(bondWith peer: Int, than link: UserLink, _ index: Int) -> Bool {
        pairings.lastBond(index, peer).map { $0 <= link.beginning } ?? false
    }

    func failBond(_ text: String, _ index: Int) { world.fail(.bond, text, at: world.station(index)) }
}

extension Bond {
    func hasSameKeys(as other: Bond) -> Bool {
        centralKey == other.centralKey && peripheralKey == other.peripheralKey
    }
}
