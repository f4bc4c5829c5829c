import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothUsers

/// What a world knows of its pairings, whatever the hosts make of them: who wanted each, who agreed, and what the persons
/// saw, compared and entered.
final class PairingModel {
    /// One pairing between two stations.
    final class Attempt {
        let central: Int
        let peripheral: Int
        /// Whether the central's host had a reason to begin: a call to pair, or an agent that pairs on demand.
        let isWanted: Bool
        /// Whether its Pairing Request has arrived.
        var hasArrived = false
        /// Whether the peripheral's agent has agreed.
        var hasConsent = false
        /// The passkeys that each side has shown or entered.
        var passkeys: [Int: Set<UInt32>] = [:]
        /// The number that each side has shown to be compared, and who has said that it is the same.
        var numbers: [Int: UInt32] = [:]
        var agreed: Set<Int> = []
        /// Sides where an agent refused, was silent for long, or entered a passkey that was not shown.
        var unwilling: Set<Int> = []
        /// Sides that have called it off, or have lost their agent.
        var cancelled: Set<Int> = []
        /// Sides whose host was told since it began that the link is encrypted, or has a new key.
        var encrypted: Set<Int> = []
        /// What each side reported, and when.
        private(set) var ends: [Int: Result<PairingOutcome, PairingError>] = [:]
        fileprivate var endInstants: [Int: Instant] = [:]

        init(central: Int, peripheral: Int, isWanted: Bool) {
            self.central = central
            self.peripheral = peripheral
            self.isWanted = isWanted
        }

        /// A side reports what became of it. False if it has done so before.
        func noteEnd(_ end: Result<PairingOutcome, PairingError>, of station: Int, at now: Instant) -> Bool {
            guard ends[station] == nil else { return false }
            ends[station] = end
            endInstants[station] = now
            return true
        }

        /// Whether a person at a side wanted it, or agreed to it.
        func isAgreed(by station: Int) -> Bool { station == central ? isWanted : hasConsent }

        func other(than station: Int) -> Int { station == central ? peripheral : central }

        /// Whether the two persons really compared equal numbers, or used the same passkey.
        func isAuthenticated(by model: AssociationModel) -> Bool {
            switch model {
            case .numericComparison:
                agreed.count == 2 && numbers[central] != nil && numbers[central] == numbers[peripheral]
            case .passkeyEntry:
                !(passkeys[central] ?? []).isDisjoint(with: passkeys[peripheral] ?? [])
            case .justWorks, .outOfBand: false
            }
        }

        /// What the persons saw and did, for the text of a violation.
        var evidence: String {
            "passkeys \(passkeys.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.sorted())" }), "
                + "numbers \(numbers.sorted { $0.key < $1.key }), agreed \(agreed.sorted())"
        }

        /// Whether the persons give a reason for a pairing to fail.
        var isTroubled: Bool { !unwilling.isEmpty || !cancelled.isEmpty }
    }

    private struct Pair: Hashable {
        let low, high: Int

        init(_ one: Int, _ other: Int) { (low, high) = (min(one, other), max(one, other)) }
    }

    private var attempts: [Pair: [Attempt]] = [:]
    /// Bonds that were reported to users, by their keys.
    private var reported: [Int: [Int: [LongTermKey?]]] = [:]
    /// Stations that have called pairings off.
    private var cancelling: Set<Int> = []
    /// Bonds that users have asked to remove.
    private var removals: [Int: Set<Int>] = [:]
    private var removalWishes: [Int: Instant] = [:]
    /// How many calls to remove a bond have not ended.
    private var openRemovals: [Int: [Int: Int]] = [:]
    /// When the last of those that have ended did.
    private var removalEnds: [Int: [Int: Instant]] = [:]
    private var wishes: [Int: [Int: Instant]] = [:]
    private var wishCounts: [Int: [Int: Int]] = [:]
    private var agentWishes: [Int: Instant] = [:]
    private var linkBeginnings: [Int: [Int: Instant]] = [:]
    private var bondInstants: [Int: [Int: Instant]] = [:]
    /// Pairs of stations of which one had a bond at some time.
    private var everBonded: Set<Pair> = []

    private static let memory = 16

    // MARK: - Pairings

    /// The last pairings between two stations, oldest first.
    func attempts(_ station: Int, _ peer: Int) -> [Attempt] { attempts[Pair(station, peer)] ?? [] }

    /// The pairing that began last between two stations. A request over a link of which the peer is gone already arrives
    /// nowhere.
    func current(_ station: Int, _ peer: Int) -> Attempt? {
        guard let attempts = attempts[Pair(station, peer)] else { return nil }
        return attempts.last(where: \.hasArrived) ?? attempts.last
    }

    /// The pairing whose keys a station reports or keeps now. The next request may have arrived with the event that says that
    /// the link is encrypted (Vol 3, Part H, 2.4.4): the host tells of the pairing before, for which it has it.
    func concluded(_ station: Int, _ peer: Int, at now: Instant) -> Attempt? {
        guard let current = current(station, peer), !current.encrypted.contains(station) else {
            return current(station, peer)
        }
        let before = attempts[Pair(station, peer)]?.filter(\.hasArrived).dropLast().last
        guard let before, before.encrypted.contains(station), before.endInstants[station] ?? now == now else {
            return current
        }
        return before
    }

    /// Whether the persons gave a reason for the pairing before that to fail.
    func wasTroubled(_ station: Int, _ peer: Int) -> Bool {
        attempts[Pair(station, peer)]?.filter(\.hasArrived).dropLast().last?.isTroubled ?? false
    }

    func requestSent(_ central: Int, to peripheral: Int, isWanted: Bool) {
        add(Attempt(central: central, peripheral: peripheral, isWanted: isWanted))
    }

    func requestReceived(_ peripheral: Int, from central: Int) {
        let sent = attempts[Pair(peripheral, central)]?.last { $0.peripheral == peripheral && !$0.hasArrived }
        if let sent {
            sent.hasArrived = true
            return
        }
        // It was made of another PDU on its way, or was sent twice.
        let attempt = Attempt(central: central, peripheral: peripheral, isWanted: true)
        attempt.hasArrived = true
        add(attempt)
    }

    private func add(_ attempt: Attempt) {
        let pair = Pair(attempt.central, attempt.peripheral)
        attempts[pair] = (attempts[pair] ?? []).suffix(Self.memory - 1) + [attempt]
    }

    /// Whether two persons have ever really authenticated their devices by a model.
    func isAuthenticated(_ station: Int, _ peer: Int, by model: AssociationModel? = nil) -> Bool {
        (attempts[Pair(station, peer)] ?? []).contains { attempt in
            (model.map { [$0] } ?? [.numericComparison, .passkeyEntry]).contains(where: attempt.isAuthenticated)
        }
    }

    /// The last pairings of a station.
    func current(at station: Int) -> [Attempt] {
        attempts.values.joined().filter { $0.central == station || $0.peripheral == station }
    }

    // MARK: - Bonds

    func noteRemoving(_ station: Int, _ peer: Int, at now: Instant) {
        removals[station, default: []].insert(peer)
        removalWishes[station] = now
        openRemovals[station, default: [:]][peer, default: 0] += 1
    }

    /// The call to remove a bond has ended: the bond has gone for good, or is one still.
    func noteRemovalEnded(_ station: Int, _ peer: Int, at now: Instant) {
        openRemovals[station]?[peer]? -= 1
        removalEnds[station, default: [:]][peer] = now
    }

    /// The process of a station has begun again: its bonds are those in the store.
    func forgetOpenRemovals(of station: Int) { openRemovals[station] = nil }

    /// Whether a station's host may have been without a bond for some time since then, although it was in the store.
    func isForgotten(_ station: Int, _ peer: Int, since instant: Instant) -> Bool {
        let isUnderWay = (openRemovals[station]?[peer] ?? 0) > 0
        return isUnderWay || removalEnds[station]?[peer].map { $0 >= instant } ?? false
    }

    /// When a user of a station has last asked to remove a bond.
    func lastRemovalWish(of station: Int) -> Instant? { removalWishes[station] }

    /// Whether both stations have reported that their last pairing made a bond, and neither was ever asked to remove one.
    func haveAgreed(_ station: Int, _ peer: Int) -> Bool {
        guard let attempt = current(station, peer), attempt.ends.count == 2, !attempt.isTroubled,
            !isRemovalWanted(station, peer), !isRemovalWanted(peer, station)
        else { return false }
        return attempt.ends.values.allSatisfy { end in
            if case .success(let outcome) = end { outcome.isBonded } else { false }
        }
    }

    func isRemovalWanted(_ station: Int, _ peer: Int) -> Bool { removals[station]?.contains(peer) ?? false }

    func isEverBonded(_ station: Int, _ peer: Int) -> Bool { everBonded.contains(Pair(station, peer)) }

    func noteBond(_ station: Int, _ peer: Int) { everBonded.insert(Pair(station, peer)) }

    /// A station has a new link with another.
    func noteLink(_ station: Int, _ peer: Int, at now: Instant) { linkBeginnings[station, default: [:]][peer] = now }

    /// When the link of a station with another began.
    func linkBeginning(_ station: Int, _ peer: Int) -> Instant? { linkBeginnings[station]?[peer] }

    /// A user of a station has asked to pair; it may leave before the host begins.
    func noteWish(_ station: Int, _ peer: Int, at now: Instant) {
        wishes[station, default: [:]][peer] = now
        wishCounts[station, default: [:]][peer, default: 0] += 1
    }

    /// How often users of a station have asked to pair with another.
    func wishCount(of station: Int, for peer: Int) -> Int { wishCounts[station]?[peer] ?? 0 }

    /// How many of the last Pairing Requests between two stations are from one of them.
    func requestCount(of central: Int, to peripheral: Int) -> Int {
        attempts[Pair(central, peripheral)]?.count { $0.central == central } ?? 0
    }

    /// A station has had an agent that lets it pair with whoever asks, until now.
    func noteAgentWish(_ station: Int, at now: Instant) { agentWishes[station] = now }

    func forgetAgentWish(_ station: Int) { agentWishes[station] = nil }

    /// Whether somebody has wanted to pair with a station since the link with it began: a Pairing Request may wait for long
    /// until the controller has a buffer for it, and nobody may want it any more by then.
    func wasWanted(_ station: Int, _ peer: Int) -> Bool {
        guard let wish = [wishes[station]?[peer], agentWishes[station]].compactMap(\.self).max() else { return false }
        return linkBeginnings[station]?[peer].map { $0 <= wish } ?? false
    }

    /// A station keeps new keys of a peer.
    func noteNewBond(_ station: Int, _ peer: Int, at now: Instant) { bondInstants[station, default: [:]][peer] = now }

    /// When a station got its keys of a peer.
    func lastBond(_ station: Int, _ peer: Int) -> Instant? { bondInstants[station]?[peer] }

    func noteReported(_ station: Int, _ peer: Int, _ bond: Bond) {
        reported[station, default: [:]][peer] = [bond.centralKey, bond.peripheralKey]
    }

    /// A station has called a pairing off, or lost its agent, which does so with all pairings.
    func noteCancelled(_ station: Int, _ peer: Int? = nil) {
        for attempt in current(at: station) where peer.map({ attempt.other(than: station) == $0 }) ?? true {
            attempt.cancelled.insert(station)
        }
        cancelling.insert(station)
    }

    /// Whether a station has ever called a pairing off.
    func isCancelling(_ station: Int) -> Bool { cancelling.contains(station) }

    func noteRemoved(_ station: Int, _ peer: Int) { reported[station]?[peer] = nil }

    /// The peers whose bonds a station's users were told of.
    func reportedPeers(of station: Int) -> [Int] { (reported[station] ?? [:]).keys.sorted() }
}

extension KeyStrength {
    /// Whether keys of this strength protect less than those of another: the model's own opinion.
    func protectsLess(than other: KeyStrength) -> Bool {
        if other.model != .justWorks, model == .justWorks { return true }
        if other.usesSecureConnections, !usesSecureConnections { return true }
        return keySize < other.keySize
    }
}

extension Bond {
    /// Whether both sides have what one side's central and the other side's peripheral need.
    func fits(_ other: Bond) -> Bool {
        centralKey == other.peripheralKey && peripheralKey == other.centralKey
    }
}
