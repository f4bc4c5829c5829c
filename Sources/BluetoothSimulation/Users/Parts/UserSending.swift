import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothUsers

/// The values and cards that a user sends to its peers, and the send credit for them.
final class UserSending: UserPart {
    let context: UserContext
    private let discovery: UserDiscovery
    let subscribers: UserSubscribers
    private var outboxes: [LinkIdentifier: Outbox] = [:]

    private struct Outbox {
        /// The number of unacknowledged values the user may still send.
        var credit = 0
        /// The streams of values to the peer, by characteristic and by whether they are indicated.
        var streams: [UserLink.StreamKey: UserLink.Stream] = [:]
        /// Values that wait for send credit.
        var backlog: [Outgoing] = []
        /// The card being sent.
        var card: ChunkedMessageSender?
        /// Whether only empty parts of a card are being sent.
        var isDribbling = false
    }

    private struct Outgoing {
        var way: Way
        var count: Int
        /// Whether the values have the maximum length.
        var isFull = false
    }

    enum Way { case command, notification, update }

    init(_ context: UserContext, discovery: UserDiscovery, subscribers: UserSubscribers) {
        self.context = context
        self.discovery = discovery
        self.subscribers = subscribers
    }

    // MARK: - Facts

    /// The values sent in a stream; nil if there are none.
    func stream(_ key: UserLink.StreamKey, on link: LinkIdentifier) -> UserLink.Stream? { outboxes[link]?.streams[key] }

    private func credit(on link: LinkIdentifier) -> Int { outboxes[link]?.credit ?? 0 }

    // MARK: - Events

    func linkBegan(_ link: LinkIdentifier) { outboxes[link] = Outbox() }

    func linkEnded(_ link: LinkIdentifier) { outboxes[link] = nil }

    /// The user has left.
    func removeAll() { outboxes = [:] }

    func granted(_ count: Int, on link: LinkIdentifier) {
        guard var outbox = outboxes[link] else { return }
        outbox.credit += count
        outboxes[link] = outbox
        if outbox.credit > SharedHost.sendCredit {
            fail(.bounds, "a link has \(outbox.credit) credits for values; the maximum is \(SharedHost.sendCredit)")
        }
        sendBacklog(link)
    }

    /// Restarts the streams of a characteristic, because the subscription to it has changed.
    func subscriptionChanged(_ characteristic: SimulatedService.Characteristic, on link: LinkIdentifier) {
        for isIndicated in [false, true] {
            let key = UserLink.StreamKey(characteristic: characteristic, isIndicated: isIndicated)
            outboxes[link]?.streams[key] = nil
        }
        if characteristic == .card { outboxes[link]?.card = nil }
        outboxes[link]?.backlog.removeAll { $0.way != .command }
    }

    /// Starts a new stream after an indication was cancelled, because the next value does not follow the previous one.
    func breakStream(of link: LinkIdentifier) {
        let key = UserLink.StreamKey(characteristic: .stream, isIndicated: true)
        guard let stream = outboxes[link]?.streams.removeValue(forKey: key) else { return }
        run.brokenStreams.insert(stream.identifier)
    }

    // MARK: - Values

    func send(_ way: Way, count: Int, to link: LinkIdentifier) {
        guard let outbox = outboxes[link], outbox.backlog.count < 16 else { return }
        outboxes[link]?.backlog.append(Outgoing(way: way, count: count))
        sendBacklog(link)
    }

    /// Sends more than may wait for a slow consumer.
    func burst(to link: UserLink) {
        guard link.information.mtu >= 185 else { return }
        outboxes[link.identifier]?.backlog.append(Outgoing(way: .notification, count: 4_600, isFull: true))
        sendBacklog(link.identifier)
    }

    private func sendBacklog(_ identifier: LinkIdentifier) {
        guard let link = links[identifier] else { return }
        sendCard(link)
        while credit(on: identifier) > 0, var first = outboxes[identifier]?.backlog.first {
            guard send(first.way, isFull: first.isFull, to: link) else {
                outboxes[identifier]?.backlog.removeFirst()
                continue
            }
            outboxes[identifier]?.credit -= 1
            first.count -= 1
            if first.count > 0 {
                outboxes[identifier]?.backlog[0] = first
            } else {
                outboxes[identifier]?.backlog.removeFirst()
            }
        }
    }

    /// Sends one value. Returns false if it can no longer be sent.
    private func send(_ way: Way, isFull: Bool, to link: UserLink) -> Bool {
        let identifier = link.identifier
        switch way {
        case .command:
            guard let handle = discovery.handles(of: .commands, on: identifier)?.lowerBound,
                handle == run.handle(of: .commands, at: link.peer)
            else { return false }
            post(.writeWithoutResponse(identifier, handle, nextValue(.commands, link)))
        case .notification, .update:
            guard let handle = run.handle(of: .stream, at: station),
                let subscription = subscribers.configuration(of: .stream, on: identifier),
                way == .update || subscription.contains(.notifications)
            else { return false }
            // An update is indicated to a peer that has subscribed to indications only.
            let isIndicated = !subscription.contains(.notifications)
            let value = nextValue(.stream, isIndicated: isIndicated, isFull: isFull, link)
            post(way == .update ? .update(identifier, handle, value) : .notify(identifier, handle, value))
        }
        return true
    }

    /// The next value of a stream, with a random or the maximum length.
    func nextValue(
        _ characteristic: SimulatedService.Characteristic, isIndicated: Bool = false, isFull: Bool = false,
        _ link: UserLink
    ) -> [UInt8] {
        let key = UserLink.StreamKey(characteristic: characteristic, isIndicated: isIndicated)
        var stream = stream(key, on: link.identifier) ?? UserLink.Stream(identifier: run.nextNumber())
        stream.last += 1
        outboxes[link.identifier]?.streams[key] = stream
        let room = max(SimulatedValue.leastCount, min(link.information.mtu - 3, 244))
        let count = SimulatedValue.leastCount + context.draw { $0.below(room - SimulatedValue.leastCount + 1) }
        return SimulatedValue(characteristic, station: station, stream: stream.identifier, number: stream.last)
            .bytes(count: isFull ? room : context.draw { $0.oneIn(2) } ? min(20, room) : count)
    }

    /// Sends a value that requires an encrypted link.
    func sendLocked(to link: LinkIdentifier) {
        guard let handle = run.handle(of: .locked, at: station), credit(on: link) > 0,
            subscribers.configuration(of: .locked, on: link) != nil
        else { return }
        outboxes[link]?.credit -= 1
        let value = SimulatedValue(.locked, station: station, stream: 0, number: run.nextNumber())
        post(.update(link, handle, value.bytes(count: 20)))
    }

    /// Sends a command that the peer must ignore.
    func sendForbiddenCommand(to link: UserLink, _ pick: inout SeededGenerator) {
        let forbidden = SimulatedService.Characteristic.allCases.filter { $0.writeRefusal != nil }
        guard credit(on: link.identifier) > 0, let chosen = pick.element(of: forbidden),
            let handle = run.handle(of: chosen, at: link.peer)
        else { return }
        outboxes[link.identifier]?.credit -= 1
        // By the time the command arrives, the handle may belong to another value.
        let value = SimulatedValue(.stored, station: station, stream: 0, number: run.nextNumber())
        post(.writeWithoutResponse(link.identifier, handle, value.bytes(count: 10)))
    }

    /// Sends a value to which the clients have not subscribed. It must not leave the host.
    func sendUnwanted() {
        guard let handle = run.handle(of: .stream, at: station) else { return }
        let value = SimulatedValue(.writeOnly, station: station, stream: 0, number: 0).bytes(count: 20)
        for link in links.all {
            guard let outbox = outboxes[link.identifier], outbox.credit > 0, outbox.backlog.isEmpty,
                subscribers.configuration(of: .stream, on: link.identifier)?.contains(.notifications) != true,
                !run.pairings.isEverBonded(station, link.peer)
            else { continue }
            outboxes[link.identifier]?.credit -= 1
            post(.notify(link.identifier, handle, value))
        }
    }

    // MARK: - Cards

    func beginCard(to link: UserLink, _ pick: inout SeededGenerator) {
        guard mayBeginCard(link.identifier) else { return }
        let card = SimulatedCard.bytes(run.nextNumber() & 0xFFFF, count: 4 + pick.below(600))
        let chunk = pick.oneIn(2) ? 20 : link.information.mtu - 3
        outboxes[link.identifier]?.card = ChunkedMessageSender(card, chunkSize: chunk)
        sendBacklog(link.identifier)
    }

    private func mayBeginCard(_ link: LinkIdentifier) -> Bool {
        guard let outbox = outboxes[link] else { return false }
        return subscribers.configuration(of: .card, on: link) != nil && outbox.card == nil && !outbox.isDribbling
    }

    private func sendCard(_ link: UserLink) {
        let identifier = link.identifier
        guard var sender = outboxes[identifier]?.card, let handle = run.handle(of: .card, at: station) else { return }
        while credit(on: identifier) > 0, !sender.isFinished {
            if !sender.nextChunk.isEmpty { noteOctets(link) }
            post(.update(identifier, handle, sender.nextChunk.copied()))
            outboxes[identifier]?.credit -= 1
            sender.advance()
        }
        outboxes[identifier]?.card = sender.isFinished ? nil : sender
    }

    private func noteOctets(_ link: UserLink) { run.lastOctets[.init(station: station, peer: link.peer)] = now }

    /// Sends a card of which no octets arrive for a long time.
    func dribble(to link: UserLink) {
        guard mayBeginCard(link.identifier), credit(on: link.identifier) > 0 else { return }
        outboxes[link.identifier]?.isDribbling = true
        noteOctets(link)
        drip(link.identifier, SimulatedCard.dribble, left: 14)
    }

    /// Sends a part of a card, then an empty part every second, and finally the end marker.
    private func drip(_ link: LinkIdentifier, _ part: [UInt8], left: Int) {
        guard isAttached, outboxes[link]?.isDribbling == true else { return }
        guard subscribers.configuration(of: .card, on: link) != nil, let handle = run.handle(of: .card, at: station)
        else {
            outboxes[link]?.isDribbling = false
            return
        }
        // Without credit the part is skipped, which does not matter.
        if credit(on: link) > 0 {
            outboxes[link]?.credit -= 1
            post(.update(link, handle, part))
        }
        guard left >= 0 else {
            outboxes[link]?.isDribbling = false
            return
        }
        context.schedule(after: .seconds(1)) { [self] in
            drip(link, left > 0 ? [] : Array("EOM".utf8), left: left - 1)
        }
    }

    // MARK: - The end

    /// Checks that all credits have been returned when the world is quiet.
    func checkQuiet() {
        for link in links.all {
            guard let outbox = outboxes[link.identifier], outbox.credit != SharedHost.sendCredit,
                outbox.backlog.isEmpty, outbox.card == nil
            else { continue }
            fail(.leftovers, "an idle link has \(outbox.credit) credits")
        }
    }
}
