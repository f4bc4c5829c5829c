import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost
import BluetoothL2CAP

/// The credit-based channels of the users. Each channel belongs to one: who opened it, or who offers the service.
extension SharedHost {
    /// How many SDUs each channel takes before one of them has left. A user has as many credits when a channel opens.
    public static let channelCredit = CreditBasedChannels.sendLimit

    // MARK: - Offering

    mutating func listen(_ call: UserCall, _ psm: UInt16?, _ listener: ChannelListener) {
        do throws(HostError) {
            let psm = try host.listen(on: psm, listener)
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
        case .send(let channel, let sdu):
            guard let index = index(of: channel, slot), links[slot.index].channels[index].user == call.user else {
                return
            }
            // Credits keep a user from sending more than there is room for; who disregards them loses the channel.
            guard let isSent = try? host.send(sdu.span, over: channel, on: link), isSent else {
                return host.closeChannel(channel, on: link, isAbrupt: true, at: now)
            }
            links[slot.index].channels[index].outstanding += 1
        case .consume(let channel, let length):
            guard let index = index(of: channel, slot), links[slot.index].channels[index].user == call.user else {
                return
            }
            host.consume(length, of: channel, on: link)
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

    mutating func open(_ request: ChannelRequest, _ slot: LinkSlot, at now: Instant) {
        let link = links[slot.index].identifier
        do throws(HostError) {
            let channels =
                if let count = request.count {
                    try host.openChannels(count, to: request.psm, request.parameters, on: link, at: now)
                } else {
                    [try host.openChannel(to: request.psm, request.parameters, on: link, at: now)]
                }
            links[slot.index].channelOpenings.append(ChannelOpening(request: request, awaited: channels))
        } catch {
            end(request.call, .failure(error))
        }
    }

    private func index(of channel: CreditBasedChannel.ID, _ slot: LinkSlot) -> Int? {
        links[slot.index].channels.firstIndex { $0.id == channel }
    }

    /// Calls off what a user has asked for, or waits to ask for again. False if the call is none of these.
    mutating func cancelOpening(_ call: UserCall, _ slot: LinkSlot, at now: Instant) -> Bool {
        // The call that cancels has no turn: the one that asked ends.
        if let index = links[slot.index].refusedChannels.firstIndex(where: { $0.request.call == call }) {
            end(links[slot.index].refusedChannels.remove(at: index).request.call, .failure(.cancelled))
            return true
        }
        if let index = links[slot.index].channelOpenings.firstIndex(where: { $0.request.call == call }) {
            let opening = links[slot.index].channelOpenings.remove(at: index)
            callOff(opening, slot, at: now)
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

    /// Nobody waits any more for the channels of a request: neither for those still to come, nor for those that have.
    private mutating func callOff(_ opening: ChannelOpening, _ slot: LinkSlot, at now: Instant) {
        let opened = opening.opened.map(\.id)
        links[slot.index].channels.removeAll { opened.contains($0.id) }
        for channel in opening.awaited + opened {
            host.closeChannel(channel, on: links[slot.index].identifier, at: now)
        }
    }

    /// A user is gone, and its channels with it.
    mutating func forgetChannels(of user: UserID, _ slot: LinkSlot, at now: Instant) {
        links[slot.index].refusedChannels.removeAll { $0.request.call.user == user }
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

    mutating func route(_ event: HostEvent.Channel, of link: LinkIdentifier, at now: Instant) {
        guard let slot = slot(of: link) else { return }
        switch event {
        case .received(let channel, let payload):
            guard let index = index(of: channel, slot) else { return }
            tell(.channel(link, .received(channel, payload)), to: links[slot.index].channels[index].user)
        case .opened(let channel, let information, .peer):
            guard let owner = channelOwners[information.psm] else {
                return host.closeChannel(channel, on: link, at: now)
            }
            links[slot.index].channels.append(ChannelRecord(id: channel, user: owner))
            tell(.channel(link, .opened(channel, information)), to: owner)
        case .opened(let channel, let information, .thisDevice):
            settleOpening(of: channel, .success(information), slot, at: now)
        // With its link: the end of that follows, and its reason.
        case .openingFailed(_, .cancelled): return
        case .openingFailed(let channel, let failure): settleOpening(of: channel, .failure(failure), slot, at: now)
        case .reconfigured(let channels, let failure):
            guard let index = links[slot.index].reconfigurations.firstIndex(where: { channels.contains($0.channel) })
            else {
                return
            }
            let error = failure.map { HostError.channelReconfiguration($0) }
            end(
                links[slot.index].reconfigurations.remove(at: index).call, error.map { .failure($0) } ?? .success(.done)
            )
        case .closed(let channel, let reason):
            guard let index = index(of: channel, slot) else { return }
            tell(.channel(link, .closed(channel, reason)), to: links[slot.index].channels.remove(at: index).user)
        case .readyToSend, .limitsChanged: return
        }
    }

    /// What became of a channel that was asked for. The call ends when that is known of all that were asked for with it.
    private mutating func settleOpening(
        of channel: CreditBasedChannel.ID, _ result: Result<ChannelInformation, ChannelOpeningFailure>,
        _ slot: LinkSlot,
        at now: Instant
    ) {
        let link = links[slot.index].identifier
        guard let index = links[slot.index].channelOpenings.firstIndex(where: { $0.awaited.contains(channel) }) else {
            if case .success = result { host.closeChannel(channel, on: link, at: now) }
            return
        }
        var opening = links[slot.index].channelOpenings[index]
        opening.awaited.removeAll { $0 == channel }
        switch result {
        case .success(let information):
            opening.opened.append(OpenedChannel(id: channel, information: information))
            links[slot.index].channels.append(ChannelRecord(id: channel, user: opening.request.call.user))
        case .failure(let failure): opening.failure = failure
        }
        links[slot.index].channelOpenings[index] = opening
        guard opening.awaited.isEmpty else { return }
        links[slot.index].channelOpenings.remove(at: index)
        if opening.opened.isEmpty, let failure = opening.failure {
            if raisesSecurity(opening.request, failure, slot, at: now) { return }
            end(opening.request.call, .failure(.channel(failure)))
        } else {
            end(opening.request.call, .success(.channels(link, opening.opened)))
        }
    }

    /// At the end of a turn: returns the credits of SDUs that have left.
    mutating func settleChannelCredits(_ slot: LinkSlot) {
        let link = links[slot.index].identifier
        for index in links[slot.index].channels.indices where links[slot.index].channels[index].outstanding > 0 {
            let channel = links[slot.index].channels[index]
            let sent = channel.outstanding - host.waitingCount(of: channel.id, on: link)
            guard sent > 0 else { continue }
            links[slot.index].channels[index].outstanding -= sent
            tell(.channel(link, .credit(channel.id, sent)), to: channel.user)
        }
    }

    // MARK: - Security

    /// The peer refused a channel. Where more protection may help, and somebody answers for the person, the request waits for
    /// that and is repeated, as refused operations of the GATT client are (Core 5.4, Vol 3, Part C, 10.3.2).
    private mutating func raisesSecurity(
        _ request: ChannelRequest, _ failure: ChannelOpeningFailure, _ slot: LinkSlot, at now: Instant
    ) -> Bool {
        guard case .refused(let result) = failure, pairingAgent?.description.pairsOnDemand == true,
            links[slot.index].refusedChannels.count < CreditBasedChannels.greatestCountAtOnce,
            let security = host.information(of: links[slot.index].identifier)?.security,
            let pairing = PairRequest(after: result, on: security)
        else { return false }
        if !host.isSecurityPending(on: links[slot.index].identifier) {
            // Without a pairing the peer's refusal is the result.
            guard (try? beginProtecting(slot, pairing, isOnDemand: true, at: now)) != nil else { return false }
        }
        links[slot.index].refusedChannels.append(RefusedChannel(request: request, failure: failure))
        return true
    }

    /// The link is protected, or will not be.
    mutating func repeatRefusedChannels(_ error: HostError?, _ slot: LinkSlot, at now: Instant) {
        let refused = links[slot.index].refusedChannels
        links[slot.index].refusedChannels = []
        for channel in refused {
            if error == nil {
                open(channel.request, slot, at: now)
            } else {
                end(channel.request.call, .failure(.channel(channel.failure)))
            }
        }
    }
}

/// What a user wants of the channels of a link.
public enum ChannelCall: Sendable {
    /// Opens an LE credit-based channel to a service, or with a count, as many enhanced ones at once, 1 to 5; ends with
    /// `.channels`, which are those that the peer opened, and at least one. Where the peer demands more protection, and somebody
    /// answers for the person, the link is protected first.
    indirect case open(psm: UInt16, ChannelParameters, count: Int?)
    /// Takes longer SDUs and K-frames on an enhanced channel from now on, or shorter K-frames; ends with `.done`.
    case reconfigure(CreditBasedChannel.ID, mtu: UInt16, mps: UInt16)
    /// Sends an SDU, of one octet to as many as the peer takes. It takes a credit of the channel: there are
    /// `SharedHost.channelCredit` of them when it opens, and `UserEvent.Channel.credit` gives them back.
    case send(CreditBasedChannel.ID, [UInt8])
    /// The user has taken an SDU of this length, so that the peer may send more.
    case consume(CreditBasedChannel.ID, Int)
    /// Closes a channel; `UserEvent.Channel.closed` follows. What waits is sent first, unless it is to be abrupt.
    case close(CreditBasedChannel.ID, isAbrupt: Bool)
}

/// A channel that is open.
public struct OpenedChannel: Equatable, Sendable {
    public var id: CreditBasedChannel.ID
    public var information: ChannelInformation
}

/// The channels that a user asks for.
struct ChannelRequest: Sendable {
    let call: UserCall
    let psm: UInt16
    let parameters: ChannelParameters
    /// How many enhanced ones; nil for an LE credit-based one.
    let count: Int?
}

/// A request that the peer was asked, and what has become of its channels so far.
struct ChannelOpening: Sendable {
    let request: ChannelRequest
    var awaited: [CreditBasedChannel.ID]
    var opened: [OpenedChannel] = []
    /// Why the last of those that failed has failed.
    var failure: ChannelOpeningFailure?
}

/// Channels that are asked for again when the link is better protected.
struct RefusedChannel: Sendable {
    let request: ChannelRequest
    let failure: ChannelOpeningFailure
}

/// A channel of a link, and whose it is.
struct ChannelRecord: Sendable {
    let id: CreditBasedChannel.ID
    let user: UserID
    /// How many SDUs have been sent without the credit having been given back.
    var outstanding = 0
}

extension PairRequest {
    /// What may turn a refusal into a channel; nil if nothing can.
    init?(after result: CreditBasedConnectionResult, on security: LinkSecurity) {
        switch result {
        case .insufficientAuthentication: self.init(after: ATTErrorCode.insufficientAuthentication, on: security)
        case .insufficientEncryption: self.init(after: ATTErrorCode.insufficientEncryption, on: security)
        default: return nil
        }
    }
}
