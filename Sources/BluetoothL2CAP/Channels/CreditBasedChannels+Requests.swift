import BluetoothBase

/// Local requests and their outcomes.
extension CreditBasedChannels {
    /// Writes a request for one channel (Core 5.4, Vol 3, Part A, 4.22).
    mutating func open(
        _ spsm: UInt16, _ local: ChannelParameters, as identifier: UInt8, until deadline: Instant,
        into writer: inout ByteWriter
    ) throws(ChannelRequestError) -> CreditBasedChannel.ID {
        guard SPSM.all.contains(spsm), local.isValid(for: .leCreditBased) else { throw .invalidParameters }
        guard let index = insert(.leCreditBased, spsm, local, .opening) else { throw .noRoom }
        let id = at[index].id
        requests.append(Request(identifier: identifier, kind: .open([id], .leCreditBased), deadline: deadline))
        LECreditBasedConnectionRequest(
            spsm: spsm, source: id.cid, mtu: local.mtu, mps: local.mps, initialCredits: local.window
        ).encode(identifier: identifier, into: &writer)
        return id
    }

    /// Writes a request for one to five channels at once (4.25).
    mutating func open(
        _ count: Int, _ spsm: UInt16, _ local: ChannelParameters, as identifier: UInt8, until deadline: Instant,
        into writer: inout ByteWriter
    ) throws(ChannelRequestError) -> [CreditBasedChannel.ID] {
        guard SPSM.all.contains(spsm), local.isValid(for: .enhanced),
            (1...Self.greatestCountAtOnce).contains(count)
        else { throw .invalidParameters }
        guard room >= count else { throw .noRoom }
        let ids = (0..<count).compactMap { _ in insert(.enhanced, spsm, local, .opening).map { at[$0].id } }
        requests.append(Request(identifier: identifier, kind: .open(ids, .enhanced), deadline: deadline))
        CreditBasedConnectionRequest(
            spsm: spsm, mtu: local.mtu, mps: local.mps, initialCredits: local.window, sources: ids.map(\.cid)
        ).encode(identifier: identifier, into: &writer)
        return ids
    }

    /// Writes a request that allows the peer to send longer SDUs and K-frames (4.27). The MPS of a single channel may
    /// be lowered.
    mutating func reconfigure(
        _ ids: [CreditBasedChannel.ID], mtu: UInt16, mps: UInt16, as identifier: UInt8, until deadline: Instant,
        into writer: inout ByteWriter
    ) throws(ChannelRequestError) {
        let isPending = requests.contains { if case .reconfigure = $0.kind { true } else { false } }
        guard !isPending else { throw .requestOutstanding }
        guard (1...Self.greatestCountAtOnce).contains(ids.count), Set(ids).count == ids.count,
            CreditBasedChannel.Kind.enhanced.allows(mtu: mtu, mps: mps)
        else { throw .invalidParameters }
        for id in ids {
            guard let index = index(of: id), at[index].isOpen else { throw .noSuchChannel }
            guard at[index].kind == .enhanced, mtu >= at[index].local.mtu, ids.count == 1 || mps >= at[index].local.mps
            else { throw .invalidParameters }
        }
        requests.append(
            Request(identifier: identifier, kind: .reconfigure(ids, mtu: mtu, mps: mps), deadline: deadline))
        CreditBasedReconfigureRequest(mtu: mtu, mps: mps, channels: ids.map(\.cid))
            .encode(identifier: identifier, into: &writer)
    }

    // MARK: Closing

    /// Closes a channel: immediately or, if SDUs wait and `drains`, once they have been sent.
    mutating func close(_ id: CreditBasedChannel.ID, drains: Bool, at now: Instant) {
        guard let index = index(of: id) else { return }
        switch at[index].phase {
        case .opening:
            at[index].phase = .abandoned
            events.append(.openingFailed(id, .cancelled))
        case .open where drains && !at[index].queue.isEmpty:
            at[index].phase = .draining(until: now.advanced(by: Self.drainTimeout))
        case .draining where drains && !at[index].queue.isEmpty: return
        case .open, .draining: disconnect(index, toReport: .byThisDevice)
        case .free, .abandoned, .closing: return
        }
    }

    /// Abandons a channel, or its opening. No event follows.
    public mutating func abandon(_ id: CreditBasedChannel.ID) {
        guard let index = index(of: id) else { return }
        if at[index].isOpen { disconnect(index, toReport: nil) } else { at[index].phase = .abandoned }
    }

    /// Closes a channel whose peer has violated a rule.
    public mutating func fail(_ cid: ChannelIdentifier, _ violation: ChannelViolation) {
        guard let id = id(at: cid) else { return }
        end(id.index, .violated(violation))
    }

    /// Closes a channel on which a K-frame was lost, or all channels if the affected one is unknown. After the loss, a
    /// channel can't tell a new SDU from the rest of an earlier one, and the credit of the lost frame would never be
    /// returned.
    public mutating func frameLost(on cid: ChannelIdentifier?) {
        for index in at.indices {
            // A channel that is being closed has no reader any more.
            guard case .open = at[index].phase, cid ?? at[index].id.cid == at[index].id.cid else {
                continue
            }
            end(index, .dataLost)
        }
    }

    /// Closes the draining channels that have sent everything, or have taken too long.
    ///
    /// - Returns: whether SDUs still wait on an open channel.
    @discardableResult
    public mutating func endDrained(at now: Instant) -> Bool {
        var isWaiting = false
        for index in at.indices {
            let hasSDUs = !at[index].queue.isEmpty
            switch at[index].phase {
            case .open: break
            case .draining(let until):
                guard until <= now || !hasSDUs else { break }
                disconnect(index, toReport: hasSDUs ? .timedOut : .byThisDevice)
                continue
            case .free, .opening, .abandoned, .closing: continue
            }
            if hasSDUs { isWaiting = true }
        }
        return isWaiting
    }

    /// Closes an open channel and reports why.
    mutating func end(_ index: Int, _ end: ChannelEnd) {
        events.append(.closed(at[index].id, end))
        disconnect(index, toReport: nil)
    }

    /// Starts to close a channel: the peer is owed a Disconnection Request.
    mutating func disconnect(_ index: Int, toReport end: ChannelEnd?) {
        at[index].discard()
        at[index].phase = .closing(toReport: end)
        owed.append(index)
    }

    /// Frees a channel: the peer has agreed that it is closed, does not know it any more, or has not answered in time.
    mutating func disconnected(_ index: Int, inTime isInTime: Bool = true) {
        if case .closing(toReport: let end?) = at[index].phase {
            events.append(.closed(at[index].id, isInTime ? end : .timedOut))
        }
        free(index)
    }

    /// Writes the oldest Disconnection Request that is owed (4.6).
    mutating func writeOwed(as identifier: UInt8, until deadline: Instant, into writer: inout ByteWriter) {
        let index = owed.removeFirst()
        requests.append(Request(identifier: identifier, kind: .disconnect(at[index].id), deadline: deadline))
        DisconnectionRequest(destination: at[index].remote, source: at[index].id.cid)
            .encode(identifier: identifier, into: &writer)
    }

    // MARK: Credits

    /// Writes the credits that are due (4.24).
    mutating func giveCredits(on id: CreditBasedChannel.ID, as identifier: UInt8, into writer: inout ByteWriter) {
        guard let index = index(of: id) else { return }
        let credits = at[index].dueCredits
        guard credits > 0 else { return }
        at[index].peerCredits += credits
        FlowControlCredit(channel: id.cid, credits: UInt16(clamping: credits))
            .encode(identifier: identifier, into: &writer)
    }

    // MARK: - Time

    /// Ends the oldest request that has timed out. Returns false if no request has.
    mutating func expire(at now: Instant) -> Bool {
        guard let index = requests.firstIndex(where: { $0.deadline <= now }) else { return false }
        end(requests.remove(at: index), .timedOut)
        return true
    }

    /// Ends a request that has failed.
    mutating func end(_ request: Request, _ failure: ChannelOpeningFailure) {
        switch request.kind {
        case .open(let ids, _): for id in ids { failOpening(id, failure) }
        case .reconfigure(let ids, _, _):
            events.append(.reconfigured(ids, failure == .timedOut ? .timedOut : .notSupported))
        case .disconnect(let id): disconnected(id.index, inTime: failure != .timedOut)
        }
    }

    mutating func failOpening(_ id: CreditBasedChannel.ID, _ failure: ChannelOpeningFailure) {
        let isWanted = index(of: id) != nil
        free(id.index)
        if isWanted { events.append(.openingFailed(id, failure)) }
    }
}
