import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP

/// The users' credit-based channels. Each channel belongs to one user: the one that opened it, or the one that offers
/// the service.
extension SharedHost {
    /// The number of SDUs that each channel accepts before one of them has been sent. This is a user's credit when a
    /// channel opens.
    public static let channelCredit = CreditBasedChannels.sendLimit

    // MARK: - Listening

    mutating func listen(_ call: UserCall, _ psm: UInt16?, _ listener: ChannelListener) {
        do throws(HostError) {
            let psm = try host.listen(on: psm, listener: listener)
            channelOwners[psm] = call.user
            end(call, .success(.listening(psm)))
        } catch {
            end(call, .failure(error))
        }
    }

    mutating func stopListening(_ call: UserCall, on psm: UInt16) {
        if channelOwners[psm] == call.user {
            host.stopListening(on: psm)
            channelOwners[psm] = nil
        }
        end(call, .success(.done))
    }

    // MARK: - Calls

    mutating func carryOut(_ kind: ChannelCall, _ call: UserCall, _ slot: LinkSlot, at now: Instant) {
        let link = links[slot.index].identifier
        switch kind {
        case .open(let psm, let parameters, let count):
            open(ChannelRequest(call: call, psm: psm, parameters: parameters, count: count), slot, at: now)
        case .send(let channel, let sdu): send(sdu, over: channel, for: call.user, slot, at: now)
        // `perform(_:at:)` does this itself.
        case .consume: return
        case .reconfigure(let channel, let mtu, let mps):
            guard let index = index(of: channel, slot), links[slot.index].channels[index].user == call.user else {
                return end(call, .failure(.noSuchChannel))
            }
            do throws(HostError) {
                try host.reconfigure([channel], mtu: mtu, mps: mps, on: link, at: now)
                links[slot.index].reconfigurations.append((channel, call))
            } catch {
                end(call, .failure(error))
            }
        case .close(let channel, let isAbrupt):
            guard let index = index(of: channel, slot), links[slot.index].channels[index].user == call.user else {
                return
            }
            host.closeChannel(channel, on: link, isAbrupt: isAbrupt, at: now)
        }
    }

    /// Sends an SDU for the user that the channel belongs to. A channel that has ended has already been reported as
    /// closed.
    mutating func send(
        _ sdu: [UInt8], over channel: CreditBasedChannel.ID, for user: UserID, _ slot: LinkSlot, at now: Instant
    ) {
        guard let index = index(of: channel, slot), links[slot.index].channels[index].user == user else { return }
        work.add(.sending)
        let link = links[slot.index].identifier
        // Credits limit what a user sends. If a user exceeds them, its channel is closed.
        guard let isSent = try? host.send(sdu, over: channel, on: link), isSent else {
            work = .any
            return host.closeChannel(channel, on: link, isAbrupt: true, at: now)
        }
        links[slot.index].channels[index].outstanding += 1
    }

    /// Notes what a user has processed.
    mutating func consume(_ share: Int, of channel: CreditBasedChannel.ID, on link: LinkIdentifier, for user: UserID) {
        guard let slot = slot(of: link), let index = index(of: channel, slot),
            links[slot.index].channels[index].user == user
        else { return }
        work.add(host.consume(share: share, of: channel, on: link))
    }

    mutating func open(_ request: ChannelRequest, _ slot: LinkSlot, at now: Instant) {
        let link = links[slot.index].identifier
        do throws(HostError) {
            let channels =
                if let count = request.count {
                    try host.openChannels(count, to: request.psm, parameters: request.parameters, on: link, at: now)
                } else {
                    [try host.openChannel(to: request.psm, parameters: request.parameters, on: link, at: now)]
                }
            links[slot.index].channelOpenings.append(ChannelOpening(request: request, awaited: channels))
        } catch {
            end(request.call, .failure(error))
        }
    }

    private func index(of channel: CreditBasedChannel.ID, _ slot: LinkSlot) -> Int? {
        links[slot.index].channels.firstIndex { $0.id == channel }
    }

    /// Cancels a user's request to open or reconfigure a channel. Returns false if the call made no such request.
    mutating func cancelOpening(_ call: UserCall, _ slot: LinkSlot, at now: Instant) -> Bool {
        if let index = links[slot.index].channelOpenings.firstIndex(where: { $0.request.call == call }) {
            let opening = links[slot.index].channelOpenings.remove(at: index)
            callOff(opening, slot, at: now)
            // End the call that made the request, since only that one has a turn to end.
            end(opening.request.call, .failure(.cancelled))
            return true
        }
        if let index = links[slot.index].reconfigurations.firstIndex(where: { $0.call == call }) {
            links[slot.index].reconfigurations.remove(at: index)
        } else {
            return false
        }
        end(call, .failure(.cancelled))
        return true
    }

    /// Closes the channels of a cancelled request, both those still being opened and those already open.
    private mutating func callOff(_ opening: ChannelOpening, _ slot: LinkSlot, at now: Instant) {
        let opened = opening.opened.map(\.id)
        links[slot.index].channels.removeAll { opened.contains($0.id) }
        for channel in opening.awaited + opened {
            host.closeChannel(channel, on: links[slot.index].identifier, at: now)
        }
    }

    /// Removes a user that has detached, and closes its channels.
    mutating func forgetChannels(of user: UserID, _ slot: LinkSlot, at now: Instant) {
        links[slot.index].reconfigurations.removeAll { $0.call.user == user }
        for opening in links[slot.index].channelOpenings where opening.request.call.user == user {
            callOff(opening, slot, at: now)
        }
        links[slot.index].channelOpenings.removeAll { $0.request.call.user == user }
        for channel in links[slot.index].channels where channel.user == user {
            host.closeChannel(channel.id, on: links[slot.index].identifier, at: now)
        }
        links[slot.index].channels.removeAll { $0.user == user }
    }

    mutating func forgetListeners(of user: UserID) {
        for (psm, owner) in channelOwners where owner == user {
            host.stopListening(on: psm)
            channelOwners[psm] = nil
        }
    }

    // MARK: - Events

    @inline(__always)
    mutating func route(_ event: consuming HostEvent.Channel, of link: LinkIdentifier, at now: Instant) {
        switch consume event {
        case .received(let channel, let sdu): received(sdu, on: channel, of: link)
        case .opened(let channel, let information, let opener): opened(channel, information, by: opener, link, at: now)
        // The channel failed because its link ended. The end of the link follows, with its reason.
        case .openingFailed(_, .cancelled): return
        case .openingFailed(let channel, let failure): settleOpening(of: channel, .failure(failure), link, at: now)
        case .reconfigured(let channels, let failure): reconfigured(channels, failure, link)
        case .closed(let channel, let end): closed(channel, end, link)
        case .readyToSend, .limitsChanged: return
        }
    }

    /// Adds an SDU to those that its user gets together.
    @inline(__always)
    private mutating func received(_ sdu: Payload, on channel: CreditBasedChannel.ID, of link: LinkIdentifier) {
        if arrivals?.add(sdu, on: channel, of: link) == true { return }
        beginArrivals(with: sdu, on: channel, of: link)
    }

    @inline(never)
    private mutating func beginArrivals(
        with sdu: Payload, on channel: CreditBasedChannel.ID, of link: LinkIdentifier
    ) {
        guard let slot = slot(of: link), let index = index(of: channel, slot) else { return }
        let first = Arrivals(sdu, on: links[slot.index].channels[index], of: link)
        // A stream of octets has no empty SDUs, so there is nothing for the user to process.
        guard sdu.count > 0 else { return consume(first.share, of: channel, on: link, for: first.user) }
        tellPending()
        arrivals = first
    }

    /// Reports the SDUs that have arrived together to their user.
    @inline(never)
    mutating func tell(_ arrivals: Arrivals) {
        self.arrivals = nil
        guard let index = index(of: arrivals.user) else { return }
        let event = UserEvent.Channel.received(arrivals.channel, arrivals.payload, share: arrivals.share)
        users[index].events.append(.channel(arrivals.link, event))
    }

    private mutating func opened(
        _ channel: CreditBasedChannel.ID, _ information: ChannelInformation, by opener: ChannelOpener,
        _ link: LinkIdentifier, at now: Instant
    ) {
        switch opener {
        case .thisDevice: settleOpening(of: channel, .success(information), link, at: now)
        case .peer:
            guard let slot = slot(of: link) else { return }
            guard let owner = channelOwners[information.psm] else {
                return host.closeChannel(channel, on: link, at: now)
            }
            links[slot.index].channels.append(ChannelRecord(id: channel, user: owner, limits: information.local))
            tell(.channel(link, .opened(channel, information)), to: owner)
        }
    }

    private mutating func reconfigured(
        _ channels: [CreditBasedChannel.ID], _ failure: ChannelReconfigurationFailure?, _ link: LinkIdentifier
    ) {
        guard let slot = slot(of: link),
            let index = links[slot.index].reconfigurations.firstIndex(where: { channels.contains($0.channel) })
        else { return }
        let error = failure.map { HostError.channelReconfiguration($0) }
        end(links[slot.index].reconfigurations.remove(at: index).call, error.map { .failure($0) } ?? .success(.done))
    }

    private mutating func closed(_ channel: CreditBasedChannel.ID, _ end: ChannelEnd, _ link: LinkIdentifier) {
        guard let slot = slot(of: link), let index = index(of: channel, slot) else { return }
        tell(.channel(link, .closed(channel, end)), to: links[slot.index].channels.remove(at: index).user)
    }

    /// Records the outcome of opening a channel. The call ends when all channels of its request have an outcome.
    private mutating func settleOpening(
        of channel: CreditBasedChannel.ID, _ result: Result<ChannelInformation, ChannelOpeningFailure>,
        _ link: LinkIdentifier, at now: Instant
    ) {
        guard let slot = slot(of: link) else { return }
        guard let index = links[slot.index].channelOpenings.firstIndex(where: { $0.awaited.contains(channel) }) else {
            if case .success = result { host.closeChannel(channel, on: link, at: now) }
            return
        }
        var opening = links[slot.index].channelOpenings[index]
        opening.awaited.removeAll { $0 == channel }
        switch result {
        case .success(let information):
            opening.opened.append(OpenedChannel(id: channel, information: information))
            links[slot.index].channels.append(
                ChannelRecord(id: channel, user: opening.request.call.user, limits: information.local))
        case .failure(let failure): opening.failure = failure
        }
        links[slot.index].channelOpenings[index] = opening
        guard opening.awaited.isEmpty else { return }
        links[slot.index].channelOpenings.remove(at: index)
        if opening.opened.isEmpty, let failure = opening.failure {
            if waitsForSecurity(opening.request, failure, slot, at: now) { return }
            end(opening.request.call, .failure(.channel(failure)))
        } else {
            end(opening.request.call, .success(.channels(link, opening.opened)))
        }
    }

    /// Returns the credits of SDUs that have been sent. Called at the end of a turn.
    ///
    /// Returning the credit of each SDU separately would wake the user for each. Credits are therefore kept while more
    /// than half of `channelCredit` SDUs wait. The user then has enough time to provide more.
    mutating func settleChannelCredits(_ slot: LinkSlot) {
        let link = links[slot.index].identifier
        for index in links[slot.index].channels.indices where links[slot.index].channels[index].outstanding > 0 {
            let channel = links[slot.index].channels[index]
            let waiting = host.waitingCount(of: channel.id, on: link), sent = channel.outstanding - waiting
            guard sent > 0, waiting <= Self.channelCredit / 2 else { continue }
            links[slot.index].channels[index].outstanding -= sent
            tell(.channel(link, .credit(channel.id, sent)), to: channel.user)
        }
    }
}

/// A user's call that concerns the channels of a link.
public enum ChannelCall: Sendable {
    /// Opens an LE credit-based channel to a service, or, with a count, that number of enhanced credit-based channels
    /// at once, 1 to 5. Ends with `.channels`: those that the peer accepted, at least one. If the peer requires more
    /// security and a pairing agent is available, the link is secured first.
    indirect case open(psm: UInt16, ChannelParameters, count: Int?)
    /// Accepts longer SDUs and K-frames on an enhanced channel from now on, or shorter K-frames; ends with `.done`.
    case reconfigure(CreditBasedChannel.ID, mtu: UInt16, mps: UInt16)
    /// Sends an SDU of at least one octet, and at most the length that the peer accepts. It takes a credit of the
    /// channel. The channel opens with `SharedHost.channelCredit` credits, and `UserEvent.Channel.credit` returns them.
    case send(CreditBasedChannel.ID, [UInt8])
    /// Reports that the user has processed octets, so that the peer may send more. `share` is the sum of their shares
    /// of the window, which `ConsumedOctets` collects.
    case consume(CreditBasedChannel.ID, share: Int)
    /// Closes a channel; `UserEvent.Channel.closed` follows. Waiting SDUs are sent first, unless `isAbrupt` is true.
    case close(CreditBasedChannel.ID, isAbrupt: Bool)
}

/// An open channel.
public struct OpenedChannel: Equatable, Sendable {
    /// Identifies the channel on its link, for the calls and events that concern it.
    public var id: CreditBasedChannel.ID
    /// The SPSM and the mode of the channel, and the limits of both sides.
    public var information: ChannelInformation
}

/// A user's request to open channels.
struct ChannelRequest: Hashable, Sendable {
    let call: UserCall
    let psm: UInt16
    let parameters: ChannelParameters
    /// The number of enhanced channels; nil for one LE credit-based channel.
    let count: Int?
}

/// A request that was sent to the peer, with the outcome of its channels so far.
struct ChannelOpening: Sendable {
    let request: ChannelRequest
    var awaited: [CreditBasedChannel.ID]
    var opened: [OpenedChannel] = []
    /// Why the last failed channel could not be opened.
    var failure: ChannelOpeningFailure?
}

/// Channels to be requested again once the link has more security.
struct RefusedChannel: Hashable, Sendable {
    let request: ChannelRequest
    let failure: ChannelOpeningFailure
}

/// A channel of a link, and the user that it belongs to.
struct ChannelRecord: Sendable {
    let id: CreditBasedChannel.ID
    let user: UserID
    /// This device's limits when the channel was opened. Shares of the window are calculated from them.
    let limits: ChannelParameters
    /// The number of SDUs whose credit has not been returned yet.
    var outstanding = 0
}

extension CreditBasedConnectionResult {
    /// The security that the link lacks, as an ATT error code; nil if the channel was refused for another reason.
    var lackOfSecurity: ATTErrorCode? {
        switch self {
        case .insufficientAuthentication: .insufficientAuthentication
        case .insufficientEncryption: .insufficientEncryption
        default: nil
        }
    }
}
