import BluetoothBase
import BluetoothHost
import BluetoothL2CAP

/// Where the users of a link wait for it to be secured: with calls that requested security, and with channels that the
/// peer refused for lack of it. Refused operations of the GATT client wait in the link's `OperationScheduler`.
struct SecurityGate: StateMachine {
    private struct Waiting: Hashable, Sendable {
        var calls: [UserCall] = []
        var channels: [RefusedChannel] = []

        var isEmpty: Bool { calls.isEmpty && channels.isEmpty }
    }

    private enum Phase: Hashable, Sendable {
        /// Nothing waits.
        case idle
        case waiting(Waiting)
        /// The pairing agent has to answer a question. The peer may have started the pairing, so perhaps nothing waits.
        case asking(Waiting)
    }

    enum Event: Equatable, Sendable {
        /// A call waits for the link to be secured.
        case requested(UserCall)
        /// The peer refused channels that may be accepted once the link has more security.
        case refused(RefusedChannel)
        case asked
        case answered
        /// The pairing agent has detached.
        case agentLeft
        /// The link is secured, or could not be for this reason. If the link is about to end, the end says why, so
        /// channels wait for that.
        case settled(HostError?, isLinkOpen: Bool)
        case ended(HostError)
    }

    enum Effect: Equatable, Sendable {
        case end(UserCall, HostError?)
        case reopen(ChannelRequest)
        case cancelPairing
    }

    private var phase = Phase.idle

    // MARK: - Queries

    /// Whether another call may wait.
    var hasRoomForCall: Bool { waiting.calls.count < OperationScheduler.capacity }

    /// Whether another refused request may wait.
    var hasRoomForChannels: Bool { waiting.channels.count < CreditBasedChannels.greatestCountAtOnce }

    var callCount: Int { waiting.calls.count }

    var channelCount: Int { waiting.channels.count }

    private var waiting: Waiting {
        switch phase {
        case .idle: Waiting()
        case .waiting(let waiting), .asking(let waiting): waiting
        }
    }

    // MARK: - Events

    mutating func handle(_ event: Event) -> [Effect] {
        switch (phase, event) {
        case (_, .requested(let call)): change { $0.calls.append(call) }
        case (_, .refused(let channel)): change { $0.channels.append(channel) }
        case (_, .asked): phase = .asking(waiting)
        case (.asking, .answered): phase = Self.phase(waiting)
        case (.asking, .agentLeft):
            phase = Self.phase(waiting)
            return [.cancelPairing]
        case (.idle, .answered), (.waiting, .answered), (.idle, .agentLeft), (.waiting, .agentLeft): break
        case (_, .settled(let error, let isLinkOpen)): return settle(error, isLinkOpen: isLinkOpen)
        case (_, .ended(let error)):
            let ended = waiting
            phase = .idle
            return (ended.channels.map(\.request.call) + ended.calls).map { .end($0, error) }
        }
        return []
    }

    private mutating func settle(_ error: HostError?, isLinkOpen: Bool) -> [Effect] {
        var remaining = waiting
        var effects = remaining.calls.map { Effect.end($0, error) }
        remaining.calls = []
        if isLinkOpen {
            effects += remaining.channels.map { channel in
                error == nil
                    ? .reopen(channel.request) : .end(channel.request.call, .channel(channel.failure))
            }
            remaining.channels = []
        }
        phase = Self.phase(remaining)
        return effects
    }

    /// Removes a call that was cancelled.
    ///
    /// - Returns: the call as it was waiting, with the turn that ends with it; nil if it does not wait here.
    mutating func withdraw(_ call: UserCall) -> UserCall? {
        guard let known = (waiting.calls + waiting.channels.map(\.request.call)).first(where: { $0 == call }) else {
            return nil
        }
        remove { $0 == call }
        return known
    }

    /// Removes the calls of a user that has detached.
    mutating func forget(_ user: UserID) { remove { $0.user == user } }

    private mutating func remove(where isMeant: (UserCall) -> Bool) {
        change {
            $0.calls.removeAll(where: isMeant)
            $0.channels.removeAll { isMeant($0.request.call) }
        }
    }

    /// Changes what waits. A question to the agent remains open.
    private mutating func change(_ body: (inout Waiting) -> Void) {
        switch phase {
        case .idle, .waiting:
            var waiting = waiting
            body(&waiting)
            phase = Self.phase(waiting)
        case .asking(var waiting):
            body(&waiting)
            phase = .asking(waiting)
        }
    }

    private static func phase(_ waiting: Waiting) -> Phase { waiting.isEmpty ? .idle : .waiting(waiting) }
}

extension SecurityGate {
    package enum PhaseName: String, CaseIterable, Sendable {
        case idle, waiting, asking
    }

    package enum EventName: String, CaseIterable, Sendable {
        /// `withdrawn`: the call was cancelled, or its user has detached.
        case requested, refused, withdrawn, asked, answered, agentLeft, settled, ended
    }

    package var phaseName: PhaseName {
        switch phase {
        case .idle: .idle
        case .waiting: .waiting
        case .asking: .asking
        }
    }

    package static var transitions: [Transition<SecurityGate>] {
        [
            Transition(.idle, .requested, .waiting), Transition(.idle, .refused, .waiting),
            Transition(.idle, .asked, .asking),
            Transition(.waiting, .requested, .waiting), Transition(.waiting, .refused, .waiting),
            Transition(.waiting, .withdrawn, .waiting), Transition(.waiting, .withdrawn, .idle),
            Transition(.waiting, .asked, .asking), Transition(.waiting, .settled, .idle),
            Transition(.waiting, .settled, .waiting), Transition(.waiting, .ended, .idle),
            Transition(.asking, .requested, .asking), Transition(.asking, .refused, .asking),
            Transition(.asking, .withdrawn, .asking), Transition(.asking, .answered, .waiting),
            Transition(.asking, .answered, .idle), Transition(.asking, .agentLeft, .waiting),
            Transition(.asking, .agentLeft, .idle), Transition(.asking, .settled, .idle),
            Transition(.asking, .settled, .waiting), Transition(.asking, .ended, .idle),
        ]
    }
}
