import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothL2CAP

/// L2CAP channels: offering and opening them, and what must come of what is sent.
extension CallUser {
    /// The service that each publisher offers, and one that nobody does.
    private static let psm: UInt16 = 0x85, nobodys: UInt16 = 0x86
    /// How many channels a user opens on a link.
    private static let channelLimit = 4

    func offerChannels() {
        guard run.scenario.hasChannels, isPublisher else { return }
        let isProtected = run.hasSecurity && generator.oneIn(3)
        let listener = ChannelListener(
            parameters: drawParameters(&generator, least: 64), requirement: isProtected ? .encrypted : .none)
        post(.listen(Self.psm, listener), CallLedger.Call(kind: .openChannel))
    }

    private func drawParameters(_ pick: inout SeededGenerator, least: Int) -> ChannelParameters {
        ChannelParameters(
            mtu: UInt16([least, 100, 512, 2048, 5000][pick.below(5)]),
            mps: UInt16([least, 64, 247, 247, ChannelParameters.longestMPS][pick.below(5)]),
            window: UInt16([1, 2, 5, 16, 64][pick.below(5)]))
    }

    // MARK: - Actions

    func performChannel(_ kind: Scenario.Action.Kind, on index: Int, _ pick: inout SeededGenerator) {
        if kind == .openChannel { return openChannel(index, &pick) }
        guard let place = pick.element(of: Array(links[index].channels.indices)) else { return }
        let channel = links[index].channels[place]
        let link = links[index].identifier
        switch kind {
        case .sendOverChannel:
            guard channel.closing == nil, channel.toSend < 200 else { return }
            links[index].channels[place].toSend += 1 + pick.below(40)
            pump(channel.id, of: link)
        case .pauseChannel:
            links[index].channels[place].isPaused = true
            run.hasHeld.insert(station)
        case .resumeChannel: take(place, index)
        case .closeChannel:
            guard channel.closing == nil else { return }
            let isAbrupt = pick.oneIn(4)
            links[index].channels[place].closing = isAbrupt ? .abrupt : .orderly
            links[index].channels[place].toSend = 0
            noteClosing(index)
            post(.channel(link, .close(channel.id, isAbrupt: isAbrupt)))
        case .reconfigureChannel:
            // What it takes afterwards this user does not keep.
            guard channel.information.kind == .enhanced, channel.closing == nil, !channel.isReconfigured else { return }
            let local = channel.information.local
            let mps = UInt16([64, 100, 247][pick.below(3)])
            // What is held was counted by the MPS of before.
            guard channel.held.isEmpty else { return }
            links[index].channels[place].isReconfigured = true
            post(
                .channel(link, .reconfigure(channel.id, mtu: local.mtu + UInt16(pick.below(100)), mps: mps)),
                CallLedger.Call(kind: kind, link: link))
        default: return
        }
    }

    private func openChannel(_ index: Int, _ pick: inout SeededGenerator) {
        guard links[index].channels.count < Self.channelLimit else { return }
        let link = links[index].identifier
        let count = pick.oneIn(3) ? 1 + pick.below(5) : nil
        let psm = pick.oneIn(10) ? Self.nobodys : Self.psm
        let parameters = drawParameters(&pick, least: count == nil ? 23 : 64)
        var call = CallLedger.Call(kind: .openChannel, link: link)
        call.isForNobody = psm == Self.nobodys
        post(.channel(link, .open(psm: psm, parameters, count: count)), call)
    }

    /// A side that closes loses what is still to come.
    private func noteClosing(_ index: Int) {
        run.channelClosers.insert(.init(station: station, peer: links[index].peer))
    }

    /// The user goes, and its channels with it, also those that it has only asked for.
    func leaveChannels() { for index in links.indices { noteClosing(index) } }

    /// The user calls off what it has asked for: the peer may have opened a channel, or sent values.
    func noteCalledOff(_ call: CallLedger.Call) {
        guard let link = call.link, let index = index(of: link) else { return }
        if call.kind == .openChannel { noteClosing(index) }
        if call.kind == .subscribe { forgetValues(of: call.characteristic, link) }
    }

    /// Takes what is held, and all that comes from now on.
    private func take(_ place: Int, _ index: Int) {
        let channel = links[index].channels[place]
        links[index].channels[place].isPaused = false
        links[index].channels[place].held = []
        for length in channel.held { post(.channel(links[index].identifier, .consume(channel.id, length))) }
    }

    /// Takes everything from now on, and sends nothing more than the channels have already.
    func calmChannels() {
        for index in links.indices {
            for place in links[index].channels.indices {
                take(place, index)
                links[index].channels[place].toSend = 0
            }
        }
    }

    private func pump(_ id: CreditBasedChannel.ID, of link: LinkIdentifier) {
        guard let index = index(of: link), let place = links[index].channels.firstIndex(where: { $0.id == id }) else {
            return
        }
        while links[index].channels[place].toSend > 0, links[index].channels[place].credit > 0 {
            links[index].channels[place].toSend -= 1
            links[index].channels[place].credit -= 1
            links[index].channels[place].lastSent += 1
            let channel = links[index].channels[place]
            // At one credit at a time a few K-frames take a second.
            let room = min(Int(channel.information.peerMTU), 4 * Int(channel.information.peerMPS), 2500)
            let count = generator.oneIn(3) ? room : SimulatedSDU.leastCount + generator.below(room - 9)
            let sdu = SimulatedSDU(stream: channel.outgoing, number: channel.lastSent)
            post(.channel(link, .send(id, sdu.bytes(count: min(count, room)))))
        }
    }

    // MARK: - Events

    func channelsOpened(_ opened: [OpenedChannel], on link: LinkIdentifier, _ call: CallLedger.Call) {
        if call.isForNobody { fail(.fittingReason, "a channel to a service that nobody offers was opened") }
        if opened.isEmpty { fail(.fittingReason, "no channel was opened, and no reason given") }
        for channel in opened { add(channel.id, channel.information, on: link) }
    }

    private func add(_ id: CreditBasedChannel.ID, _ information: ChannelInformation, on link: LinkIdentifier) {
        guard let index = index(of: link) else { return fail(.linkEvents, "a channel of \(link), which is not there") }
        guard !links[index].channels.contains(where: { $0.id == id }) else {
            return fail(.linkEvents, "a channel was opened twice")
        }
        links[index].channels.append(UserChannel(id: id, information: information, outgoing: run.nextNumber()))
    }

    func take(_ event: UserEvent.Channel, of link: LinkIdentifier, _ batch: borrowing EventBatch) {
        guard let index = index(of: link) else { return fail(.linkEvents, "an event of \(link), which is not there") }
        if case .opened(let id, let information) = event {
            if !isPublisher { fail(.linkEvents, "a channel was opened to a user that offers none") }
            return add(id, information, on: link)
        }
        guard let place = links[index].channels.firstIndex(where: { $0.id == event.id }) else {
            return fail(.linkEvents, "an event of a channel that is not open")
        }
        switch event {
        case .opened: return
        case .received(_, let payload): received(batch.bytes(of: payload), place, index)
        case .credit(let id, let count):
            links[index].channels[place].credit += count
            let credit = links[index].channels[place].credit
            if credit > SharedHost.channelCredit { fail(.bounds, "\(credit) credits for the SDUs of a channel") }
            pump(id, of: link)
        case .closed(_, let end):
            check(end, of: links[index].channels[place], index)
            links[index].channels.remove(at: place)
        }
    }

    private func received(_ octets: Span<UInt8>, _ place: Int, _ index: Int) {
        let channel = links[index].channels[place]
        if octets.count > Int(channel.information.local.mtu) + 100 { fail(.mtu, "an SDU of \(octets.count) octets") }
        if channel.isPaused {
            links[index].channels[place].held.append(octets.count)
            let frames = links[index].channels[place].heldFrames
            // Longer K-frames that were asked for come for credits that were given before.
            if frames > channel.frameLimit, !channel.isReconfigured {
                fail(.bounds, "a user holds \(frames) K-frames, at a window of \(channel.information.local.window)")
            }
        } else {
            post(.channel(links[index].identifier, .consume(channel.id, octets.count)))
        }
        // A channel that has lost data is closed, and nothing comes after that.
        guard isUnchanged(index) else { return }
        guard let sdu = SimulatedSDU(octets) else {
            return fail(.wholeMessage, "an SDU of \(octets.count) octets that is not whole")
        }
        if sdu.stream != channel.incoming ?? sdu.stream {
            fail(.valueOrder, "an SDU of stream \(sdu.stream) on a channel of another")
        }
        if sdu.number != channel.lastReceived + 1 {
            fail(.valueOrder, "SDU \(sdu.number) of stream \(sdu.stream) after SDU \(channel.lastReceived)")
        }
        links[index].channels[place].incoming = sdu.stream
        links[index].channels[place].lastReceived = sdu.number
        run.channelArrivals[sdu.stream] = sdu.number
    }

    // MARK: - What must hold

    /// Whether nothing that is sent on a link can be lost or changed.
    private func isSure(_ index: Int) -> Bool {
        isUnchanged(index) && !run.incomplete.contains(station) && !run.incomplete.contains(links[index].peer)
    }

    /// Whether nothing that is sent on a link can be changed.
    private func isUnchanged(_ index: Int) -> Bool {
        [station, links[index].peer].allSatisfy { !run.isTainted($0) && !run.isDamaged($0) }
    }

    private func check(_ end: ChannelEnd, of channel: UserChannel, _ index: Int) {
        let peer = links[index].peer
        guard isSure(index) else { return }
        let closers = run.channelClosers
        let isCrossed = closers.contains(.init(station: peer, peer: station))
        switch end {
        case .byThisDevice:
            if channel.closing == nil { fail(.fittingReason, "a channel was closed that its user did not close") }
            let arrived = run.channelArrivals[channel.outgoing] ?? 0
            if channel.closing == .orderly, !isCrossed, arrived != channel.lastSent {
                fail(
                    .valueMissing,
                    "a channel was closed when SDU \(arrived) of stream \(channel.outgoing) had arrived, and SDU "
                        + "\(channel.lastSent) was sent")
            }
        case .timedOut:
            if !mayTimeOut(links[index].identifier) { fail(.fittingReason, "a channel was not closed in time") }
        case .byPeer:
            if !isCrossed, !run.hasFaults(peer) { fail(.fittingReason, "a channel was closed by a peer that did not") }
        case .violated(let violation): fail(.fittingReason, "a channel was closed because a peer sent \(violation)")
        case .dataLost: fail(.fittingReason, "a channel was closed for the loss of what was not lost")
        case .linkEnded: return
        }
    }

    /// Whether a channel, or several, can have failed to open for a reason.
    func fits(_ failure: ChannelOpeningFailure, _ call: CallLedger.Call) -> Bool {
        guard call.kind == .openChannel, let index = call.link.flatMap(index) else { return call.kind == .openChannel }
        switch failure {
        case .refused(.spsmNotSupported):
            return call.isForNobody || run.users[links[index].peer].first?.isAttached != true
                || run.hasFaults(links[index].peer) || run.channelClosers.contains { $0.station == links[index].peer }
        case .refused(.noResourcesAvailable): return run.scenario.hasChannels
        case .refused(.insufficientAuthentication), .refused(.insufficientEncryption): return run.hasSecurity
        case .timedOut: return call.link.map(mayTimeOut) ?? true
        case .cancelled: return call.isCancelled
        case .refused, .notSupported, .invalidResponse: return !isSure(index)
        }
    }

    func fits(_ failure: ChannelReconfigurationFailure, _ call: CallLedger.Call) -> Bool {
        guard call.kind == .reconfigureChannel else { return false }
        switch failure {
        // The peer has closed it meanwhile.
        case .refused(.invalidDestinationCID): return true
        case .timedOut: return call.link.map(mayTimeOut) ?? true
        case .refused, .notSupported: return call.link.flatMap(index).map { !isSure($0) } ?? true
        }
    }

    /// Whether a channel is not done with what it has to send, or with its end.
    var isSendingOverChannels: Bool {
        isAttached
            && links.indices.contains { index in
                isSure(index)
                    && links[index].channels.contains {
                        $0.closing != nil || $0.toSend > 0 || $0.credit != SharedHost.channelCredit
                            || (run.channelArrivals[$0.outgoing] ?? 0) != $0.lastSent
                    }
            }
    }

    /// When all is quiet, everything has been sent.
    func checkChannelsQuiet() {
        for index in links.indices where isSure(index) {
            for channel in links[index].channels {
                if channel.closing != nil { fail(.leftovers, "a channel that is still being closed") }
                if channel.toSend > 0 || channel.credit != SharedHost.channelCredit {
                    fail(
                        .leftovers,
                        "\(channel.toSend) SDUs still to send, and \(channel.credit) credits, on a quiet channel")
                }
                checkArrival(channel, links[index].peer)
            }
        }
    }

    private func checkArrival(_ channel: UserChannel, _ peer: Int) {
        let arrived = run.channelArrivals[channel.outgoing] ?? 0
        if arrived != channel.lastSent {
            fail(
                .valueMissing,
                "SDU \(arrived) of stream \(channel.outgoing) arrived last at station \(peer), SDU \(channel.lastSent) "
                    + "was sent")
        }
    }
}

extension UserEvent.Channel {
    /// The channel it is about.
    fileprivate var id: CreditBasedChannel.ID {
        switch self {
        case .received(let id, _), .credit(let id, _), .opened(let id, _), .closed(let id, _): id
        }
    }
}

extension ChannelParameters {
    fileprivate static let longestMPS = Int(Host.greatestMPS)
}
