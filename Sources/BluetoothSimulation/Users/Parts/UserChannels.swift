import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothL2CAP
import BluetoothUsers

/// L2CAP channels: offering and opening them, and checking the data sent over them.
final class UserChannels: UserPart {
    let context: UserContext
    /// The open channels of each link.
    private var channels: [LinkIdentifier: [UserChannel]] = [:]

    init(_ context: UserContext) { self.context = context }

    /// The SPSM that each publisher offers, and one that no user offers.
    private static let psm: UInt16 = 0x85, nobodys: UInt16 = 0x86
    /// The maximum number of channels a user opens on a link.
    private static let channelLimit = 4

    func offer() {
        guard run.scenario.hasChannels, isPublisher else { return }
        let isProtected = run.hasSecurity && context.draw { $0.oneIn(3) }
        let listener = ChannelListener(
            parameters: context.draw { drawParameters(&$0, least: 64) }, requirement: isProtected ? .encrypted : .none)
        post(.listen(Self.psm, listener), CallLedger.Call(kind: .openChannel))
    }

    private func drawParameters(_ pick: inout SeededGenerator, least: Int) -> ChannelParameters {
        ChannelParameters(
            mtu: UInt16([least, 100, 512, 2048, 5000][pick.below(5)]),
            mps: UInt16([least, 64, 247, 247, ChannelParameters.longestMPS][pick.below(5)]),
            window: UInt16([1, 2, 5, 16, 64][pick.below(5)]))
    }

    // MARK: - Actions

    func perform(_ kind: Scenario.Action.Kind, on userLink: UserLink, _ pick: inout SeededGenerator) {
        let link = userLink.identifier
        if kind == .openChannel { return open(link, &pick) }
        guard let place = pick.element(of: Array(channels(on: link).indices)) else { return }
        let channel = channels(on: link)[place]
        switch kind {
        case .sendOverChannel:
            guard channel.closing == nil, channel.toSend < 200 else { return }
            channels[link]?[place].toSend += 1 + pick.below(40)
            pump(channel.id, of: link)
        case .pauseChannel:
            channels[link]?[place].reading = pick.oneIn(2) ? .slow : .paused
            run.hasHeld.insert(station)
        case .resumeChannel: take(place, link)
        case .closeChannel:
            guard channel.closing == nil else { return }
            let isAbrupt = pick.oneIn(4)
            channels[link]?[place].closing = isAbrupt ? .abrupt : .orderly
            channels[link]?[place].toSend = 0
            noteClosing(userLink)
            post(.channel(link, .close(channel.id, isAbrupt: isAbrupt)))
        case .reconfigureChannel:
            // `information` keeps the original values, and the checks allow for the new ones.
            guard channel.information.kind == .enhanced, channel.closing == nil, channel.reconfiguration == nil else {
                return
            }
            let mps = UInt16([64, 100, 247, ChannelParameters.longestMPS][pick.below(4)])
            let mtu = channel.information.local.mtu + UInt16(pick.below(100))
            channels[link]?[place].reconfiguration = (mtu, mps)
            post(
                .channel(link, .reconfigure(channel.id, mtu: mtu, mps: mps)), CallLedger.Call(kind: kind, link: link))
        default: return
        }
    }

    private func open(_ link: LinkIdentifier, _ pick: inout SeededGenerator) {
        guard channels(on: link).count < Self.channelLimit else { return }
        let count = pick.oneIn(3) ? 1 + pick.below(5) : nil
        let psm = pick.oneIn(10) ? Self.nobodys : Self.psm
        let parameters = drawParameters(&pick, least: count == nil ? 23 : 64)
        var call = CallLedger.Call(kind: .openChannel, link: link)
        call.isForNobody = psm == Self.nobodys
        post(.channel(link, .open(psm: psm, parameters, count: count)), call)
    }

    /// Notes that a side closes a channel, which loses data still in transit.
    private func noteClosing(_ link: UserLink) {
        run.channelClosers.insert(.init(station: station, peer: link.peer))
    }

    /// The user leaves, which closes its channels and cancels those it has only requested.
    func leave() {
        for link in links.all { noteClosing(link) }
        channels = [:]
    }

    /// Notes a cancelled call. The peer may already have opened a channel.
    func noteCalledOff(_ call: CallLedger.Call) {
        guard call.kind == .openChannel, let link = call.link.flatMap({ links[$0] }) else { return }
        noteClosing(link)
    }

    /// Consumes the held octets, and all that arrive later.
    private func take(_ place: Int, _ link: LinkIdentifier) {
        guard let channel = channels[link]?[place] else { return }
        channels[link]?[place].reading = .eager
        channels[link]?[place].held = []
        for share in channel.held { post(.channel(link, .consume(channel.id, share: share))) }
    }

    /// Consumes everything from now on, and sends only what the channels already have queued.
    func calm() {
        for link in links.all.map(\.identifier) {
            for place in channels(on: link).indices {
                take(place, link)
                channels[link]?[place].toSend = 0
            }
        }
    }

    private func pump(_ id: CreditBasedChannel.ID, of link: LinkIdentifier) {
        guard let place = channels(on: link).firstIndex(where: { $0.id == id }) else { return }
        while var channel = channels[link]?[place], channel.toSend > 0, channel.credit > 0 {
            channel.toSend -= 1
            channel.credit -= 1
            channel.lastSent += 1
            channels[link]?[place] = channel
            // With one credit at a time, a few K-frames take a second.
            let room = min(Int(channel.information.peerMTU), 4 * Int(channel.information.peerMPS), 2500)
            let count = context.draw { $0.oneIn(3) ? room : SimulatedSDU.leastCount + $0.below(room - 9) }
            let sdu = SimulatedSDU(stream: channel.outgoing, number: channel.lastSent, count: min(count, room))
            post(.channel(link, .send(id, sdu.bytes)))
        }
    }

    // MARK: - Events

    /// Checks that the channels of a link have ended before it.
    func linkEnded(_ link: LinkIdentifier) {
        if !channels(on: link).isEmpty { fail(.linkEvents, "a link ended, but its channels did not") }
        channels[link] = nil
    }

    private func channels(on link: LinkIdentifier) -> [UserChannel] { channels[link] ?? [] }

    func opened(_ opened: [OpenedChannel], on link: LinkIdentifier, _ call: CallLedger.Call) {
        if call.isForNobody { fail(.fittingReason, "a channel was opened to a service that no user offers") }
        if opened.isEmpty { fail(.fittingReason, "no channel was opened, but no reason was reported") }
        for channel in opened { add(channel.id, channel.information, on: link) }
    }

    private func add(_ id: CreditBasedChannel.ID, _ information: ChannelInformation, on link: LinkIdentifier) {
        guard links[link] != nil else {
            return fail(.linkEvents, "a channel was reported on \(link), which does not exist")
        }
        guard !channels(on: link).contains(where: { $0.id == id }) else {
            return fail(.linkEvents, "a channel was opened twice")
        }
        let channel = UserChannel(id: id, information: information, outgoing: run.nextNumber())
        channels[link, default: []].append(channel)
    }

    func take(_ event: UserEvent.Channel, of link: LinkIdentifier, _ batch: borrowing EventBatch) {
        guard let userLink = links[link] else {
            return fail(.linkEvents, "an event was reported for \(link), which does not exist")
        }
        if case .opened(let id, let information) = event {
            if !isPublisher { fail(.linkEvents, "a channel was opened to a user that offers no service") }
            return add(id, information, on: link)
        }
        guard let place = channels(on: link).firstIndex(where: { $0.id == event.id }) else {
            return fail(.linkEvents, "an event was reported for a channel that is not open")
        }
        switch event {
        case .opened: return
        case .received(_, let payload, let share): received(batch.octets(of: payload), share, place, userLink)
        case .credit(let id, let count):
            channels[link]?[place].credit += count
            let credit = channels(on: link)[place].credit
            if credit > SharedHost.channelCredit { fail(.bounds, "a channel has \(credit) credits for SDUs") }
            pump(id, of: link)
        case .closed(_, let end):
            check(end, of: channels(on: link)[place], userLink)
            channels[link]?.remove(at: place)
        }
    }

    private func received(_ octets: Span<UInt8>, _ share: Int, _ place: Int, _ link: UserLink) {
        // A channel that has lost data is closed, and delivers nothing afterwards.
        if isUnchanged(link) {
            var rest = octets
            while !rest.isEmpty {
                guard let sdu = SimulatedSDU(first: rest) else {
                    return fail(.wholeMessage, "the SDU that \(rest.count) octets begin with is incomplete")
                }
                received(sdu, place, link)
                rest = rest.extracting(droppingFirst: sdu.count)
            }
        }
        hold(share, place, link.identifier)
    }

    private func received(_ sdu: SimulatedSDU, _ place: Int, _ link: UserLink) {
        let channel = channels(on: link.identifier)[place]
        if sdu.count > Int(channel.information.local.mtu) + 100 {
            fail(.mtu, "an SDU of \(sdu.count) octets exceeds the MTU")
        }
        if sdu.stream != channel.incoming ?? sdu.stream {
            fail(.valueOrder, "an SDU of stream \(sdu.stream) arrived on another stream's channel")
        }
        if sdu.number != channel.lastReceived + 1 {
            fail(.valueOrder, "SDU \(sdu.number) of stream \(sdu.stream) arrived after SDU \(channel.lastReceived)")
        }
        channels[link.identifier]?[place].incoming = sdu.stream
        channels[link.identifier]?[place].lastReceived = sdu.number
        run.channelArrivals[sdu.stream] = sdu.number
    }

    /// Holds octets, and consumes as many as the reading mode allows.
    private func hold(_ share: Int, _ place: Int, _ link: LinkIdentifier) {
        channels[link]?[place].held.append(share)
        let channel = channels(on: link)[place]
        if channel.heldOctets > channel.octetLimit {
            fail(.bounds, "a user holds \(channel.heldOctets) octets of a channel; the limit is \(channel.octetLimit)")
        }
        switch channel.reading {
        case .paused: return
        case .slow: if channel.lastReceived % 4 != 0 { return }
        case .eager: break
        }
        channels[link]?[place].held.removeFirst()
        post(.channel(link, .consume(channel.id, share: channel.held[0])))
    }

    // MARK: - The end

    /// Whether a channel still has data to send, or is being closed.
    var isSending: Bool {
        isAttached
            && links.all.contains { link in
                isSure(link)
                    && channels(on: link.identifier).contains {
                        $0.closing != nil || $0.toSend > 0 || $0.credit != SharedHost.channelCredit
                            || (run.channelArrivals[$0.outgoing] ?? 0) != $0.lastSent
                    }
            }
    }

    /// Checks that everything has been sent when the world is quiet.
    func checkQuiet() {
        for link in links.all where isSure(link) {
            for channel in channels(on: link.identifier) {
                if channel.closing != nil { fail(.leftovers, "a channel is still being closed") }
                if channel.toSend > 0 || channel.credit != SharedHost.channelCredit {
                    fail(
                        .leftovers,
                        "a quiet channel has \(channel.toSend) SDUs to send, and \(channel.credit) credits")
                }
                checkArrival(channel, link.peer)
            }
        }
    }
}

extension UserEvent.Channel {
    /// The channel of the event.
    fileprivate var id: CreditBasedChannel.ID {
        switch self {
        case .received(let id, _, _), .credit(let id, _), .opened(let id, _), .closed(let id, _): id
        }
    }
}

extension ChannelParameters {
    fileprivate static let longestMPS = Int(Host.greatestMPS)
}
