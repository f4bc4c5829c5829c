import BluetoothBase
import BluetoothHost
import BluetoothSMP
import BluetoothUsers

/// The pairings of a world, independent of the hosts: which station wanted each, which agreed, and what the persons
/// saw, compared and entered.
final class PairingModel {
    /// One pairing between two stations.
    final class Attempt {
        let central: Int
        let peripheral: Int
        /// Whether the central's host had a reason to start: a call to pair, or an agent that pairs on demand.
        let isWanted: Bool
        /// Whether the Pairing Request has arrived.
        var hasArrived = false
        /// Whether the peripheral's agent has consented.
        var hasConsent = false
        /// The passkeys that each side has shown or entered.
        var passkeys: [Int: Set<UInt32>] = [:]
        /// The number that each side has displayed for comparison, and the sides that confirmed it.
        var numbers: [Int: UInt32] = [:]
        var agreed: Set<Int> = []
        /// Sides whose agent refused, was silent for long, or entered a passkey that was not shown.
        var unwilling: Set<Int> = []
        /// Sides that have cancelled the pairing, or have lost their agent.
        var cancelled: Set<Int> = []
        /// Sides whose host was notified, since the pairing began, that the link is encrypted or has a new key.
        var encrypted: Set<Int> = []
        /// The end that each side has reported, and its time.
        private(set) var ends: [Int: Result<PairingOutcome, PairingError>] = [:]
        fileprivate var endInstants: [Int: Instant] = [:]

        init(central: Int, peripheral: Int, isWanted: Bool) {
            self.central = central
            self.peripheral = peripheral
            self.isWanted = isWanted
        }

        /// Notes the end that a side reports. Returns false if it has already reported one.
        func noteEnd(_ end: Result<PairingOutcome, PairingError>, of station: Int, at now: Instant) -> Bool {
            guard ends[station] == nil else { return false }
            ends[station] = end
            endInstants[station] = now
            return true
        }

        /// Whether the person at a side wanted the pairing or consented to it.
        func isAgreed(by station: Int) -> Bool { station == central ? isWanted : hasConsent }

        func other(than station: Int) -> Int { station == central ? peripheral : central }

        /// Whether the two persons actually compared equal numbers, or used the same passkey.
        func isAuthenticated(by model: AssociationModel) -> Bool {
            switch model {
            case .numericComparison:
                agreed.count == 2 && numbers[central] != nil && numbers[central] == numbers[peripheral]
            case .passkeyEntry:
                !(passkeys[central] ?? []).isDisjoint(with: passkeys[peripheral] ?? [])
            case .justWorks, .outOfBand: false
            }
        }

        /// The persons' observations and inputs, for the text of a violation.
        var evidence: String {
            "passkeys \(passkeys.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.sorted())" }), "
                + "numbers \(numbers.sorted { $0.key < $1.key }), agreed \(agreed.sorted())"
        }

        /// Whether the persons gave a reason for the pairing to fail.
        var isTroubled: Bool { !unwilling.isEmpty || !cancelled.isEmpty }
    }

    private struct Pair: Hashable {
        let low, high: Int

        init(_ one: Int, _ other: Int) { (low, high) = (min(one, other), max(one, other)) }
    }

    private var attempts: [Pair: [Attempt]] = [:]
    /// The keys of bonds that were reported to users.
    private var reported: [Int: [Int: [LongTermKey?]]] = [:]
    /// Stations that have cancelled pairings.
    private var cancelling: Set<Int> = []
    /// Bonds that users have asked to remove.
    private var removals: [Int: Set<Int>] = [:]
    private var removalWishes: [Int: Instant] = [:]
    /// The number of pending calls to remove a bond.
    private var openRemovals: [Int: [Int: Int]] = [:]
    /// The time at which the last such call ended.
    private var removalEnds: [Int: [Int: Instant]] = [:]
    private var wishes: [Int: [Int: Instant]] = [:]
    private var wishCounts: [Int: [Int: Int]] = [:]
    private var agentWishes: [Int: Instant] = [:]
    private var linkBeginnings: [Int: [Int: Instant]] = [:]
    private var bondInstants: [Int: [Int: Instant]] = [:]
    /// Pairs of stations of which one has had a bond.
    private var everBonded: Set<Pair> = []

    private static let memory = 16

    // MARK: - Pairings

    /// The most recent pairings between two stations, oldest first.
    func attempts(_ station: Int, _ peer: Int) -> [Attempt] { attempts[Pair(station, peer)] ?? [] }

    /// The most recent pairing between two stations. A request over a link that the peer has already left never
    /// arrives, so pairings that have arrived take precedence.
    func current(_ station: Int, _ peer: Int) -> Attempt? {
        guard let attempts = attempts[Pair(station, peer)] else { return nil }
        return attempts.last(where: \.hasArrived) ?? attempts.last
    }

    /// The pairing whose keys a station is reporting or saving now. The next request may have arrived together with the
    /// event that the link is encrypted (Vol 3, Part H, 2.4.4). The host then still reports the previous pairing, for
    /// which the link was encrypted.
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

    /// Whether the persons gave a reason for the pairing before the current one to fail.
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
        // The request was created from another PDU in transit, or was sent twice.
        let attempt = Attempt(central: central, peripheral: peripheral, isWanted: true)
        attempt.hasArrived = true
        add(attempt)
    }

    private func add(_ attempt: Attempt) {
        let pair = Pair(attempt.central, attempt.peripheral)
        attempts[pair] = (attempts[pair] ?? []).suffix(Self.memory - 1) + [attempt]
    }

    /// Whether two persons have ever actually authenticated their devices by a model.
    func isAuthenticated(_ station: Int, _ peer: Int, by model: AssociationModel? = nil) -> Bool {
        (attempts[Pair(station, peer)] ?? []).contains { attempt in
            (model.map { [$0] } ?? [.numericComparison, .passkeyEntry]).contains(where: attempt.isAuthenticated)
        }
    }

    /// The most recent pairings of a station.
    func current(at station: Int) -> [Attempt] {
        attempts.values.joined().filter { $0.central == station || $0.peripheral == station }
    }

    // MARK: - Bonds

    func noteRemoving(_ station: Int, _ peer: Int, at now: Instant) {
        removals[station, default: []].insert(peer)
        removalWishes[station] = now
        openRemovals[station, default: [:]][peer, default: 0] += 1
    }

    /// Notes that a call to remove a bond has ended, with the bond either removed or kept.
    func noteRemovalEnded(_ station: Int, _ peer: Int, at now: Instant) {
        openRemovals[station]?[peer]? -= 1
        removalEnds[station, default: [:]][peer] = now
    }

    /// Discards pending removals, because the process of a station has restarted with the bonds in its store.
    func forgetOpenRemovals(of station: Int) { openRemovals[station] = nil }

    /// Whether a station's host may have been without a bond for some time since an instant, although it was in the
    /// store.
    func isForgotten(_ station: Int, _ peer: Int, since instant: Instant) -> Bool {
        let isUnderWay = (openRemovals[station]?[peer] ?? 0) > 0
        return isUnderWay || removalEnds[station]?[peer].map { $0 >= instant } ?? false
    }

    /// The last time at which a user of a station asked to remove a bond.
    func lastRemovalWish(of station: Int) -> Instant? { removalWishes[station] }

    /// Whether both stations have reported that their last pairing created a bond, and neither was ever asked to remove
    /// one.
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

    /// The time at which the link of a station with another began.
    func linkBeginning(_ station: Int, _ peer: Int) -> Instant? { linkBeginnings[station]?[peer] }

    /// Notes that a user of a station has requested pairing. The user may leave before the host starts.
    func noteWish(_ station: Int, _ peer: Int, at now: Instant) {
        wishes[station, default: [:]][peer] = now
        wishCounts[station, default: [:]][peer, default: 0] += 1
    }

    /// The number of times users of a station have requested pairing with another.
    func wishCount(of station: Int, for peer: Int) -> Int { wishCounts[station]?[peer] ?? 0 }

    /// The number of recent Pairing Requests from one station to another.
    func requestCount(of central: Int, to peripheral: Int) -> Int {
        attempts[Pair(central, peripheral)]?.count { $0.central == central } ?? 0
    }

    /// Notes that until now a station had an agent that lets it pair on demand.
    func noteAgentWish(_ station: Int, at now: Instant) { agentWishes[station] = now }

    func forgetAgentWish(_ station: Int) { agentWishes[station] = nil }

    /// Whether a user has wanted to pair with a station since their link began. A Pairing Request may wait for a buffer
    /// of the controller so long that no user wants it anymore.
    func wasWanted(_ station: Int, _ peer: Int) -> Bool {
        guard let wish = [wishes[station]?[peer], agentWishes[station]].compactMap(\.self).max() else { return false }
        return linkBeginnings[station]?[peer].map { $0 <= wish } ?? false
    }

    /// Notes that a station has saved new keys of a peer.
    func noteNewBond(_ station: Int, _ peer: Int, at now: Instant) { bondInstants[station, default: [:]][peer] = now }

    /// The time at which a station got its current keys of a peer.
    func lastBond(_ station: Int, _ peer: Int) -> Instant? { bondInstants[station]?[peer] }

    func noteReported(_ station: Int, _ peer: Int, _ bond: Bond) {
        reported[station, default: [:]][peer] = [bond.centralKey, bond.peripheralKey]
    }

    /// Notes that a station has cancelled a pairing, or lost its agent, which cancels all its pairings.
    func noteCancelled(_ station: Int, _ peer: Int? = nil) {
        for attempt in current(at: station) where peer.map({ attempt.other(than: station) == $0 }) ?? true {
            attempt.cancelled.insert(station)
        }
        cancelling.insert(station)
    }

    /// Whether a station has ever cancelled a pairing.
    func isCancelling(_ station: Int) -> Bool { cancelling.contains(station) }

    func noteRemoved(_ station: Int, _ peer: Int) { reported[station]?[peer] = nil }

    /// The peers whose bonds were reported to a station's users.
    func reportedPeers(of station: Int) -> [Int] { (reported[station] ?? [:]).keys.sorted() }
}

extension KeyStrength {
    /// Whether keys of this strength protect less than those of another, by rules independent of the implementation.
    func protectsLess(than other: KeyStrength) -> Bool {
        if other.model != .justWorks, model == .justWorks { return true }
        if other.usesSecureConnections, !usesSecureConnections { return true }
        return keySize < other.keySize
    }
}

extension Bond {
    /// Whether each side has the keys that the other side expects.
    func fits(_ other: Bond) -> Bool {
        centralKey == other.peripheralKey && peripheralKey == other.centralKey
    }
}
