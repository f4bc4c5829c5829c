import BluetoothATT
import BluetoothGATT
import BluetoothHost

/// One characteristic of a peer, and the users subscribed to it: what they want is compared with what was written to the peer, and
/// moved one step at a time.
struct Subscription: StateMachine {
    private enum Phase: Hashable, Sendable {
        case off
        /// The Client Characteristic Configuration is being discovered.
        case finding
        case enabling
        case on
        case disabling
    }

    private struct Holder: Hashable, Sendable {
        enum Phase: Hashable, Sendable {
            /// The write of the descriptor has not been sent: values that come belong to an earlier subscription.
            case waiting
            /// It has been sent, and the user knows: values that come are its own.
            case begun
            /// The peer has answered it.
            case confirmed
        }

        let call: UserCall
        var phase = Phase.waiting

        var isConfirmed: Bool { phase == .confirmed }
    }

    enum Event: Sendable {
        /// The peer has these descriptors.
        case found([DiscoveredDescriptor])
        /// The peer has taken the configuration.
        case written
        case failed(HostError)
        /// What the users want may have changed.
        case wantChanged
    }

    enum Effect: Sendable {
        /// An operation of the GATT client, whose end is the next event.
        case start(GATTClientOperation, of: AttributeHandle)
        case end(UserCall, Result<CallResult, HostError>)
        /// From here on, values belong to the subscription of this call.
        case began(UserCall)
        /// The Client Characteristic Configuration descriptor has this handle.
        case learned(descriptor: AttributeHandle, of: AttributeHandle)
        /// Nobody has the subscription any more.
        case over
    }

    let request: SubscriptionRequest
    private var phase = Phase.off {
        didSet { settledCharacteristic = phase == .on ? request.characteristic : 0 }
    }
    /// The characteristic while the subscription is on, and so all its holders are confirmed; otherwise 0. Values then need no
    /// other question.
    private(set) var settledCharacteristic: AttributeHandle = 0
    private var holders: [Holder] = []
    /// The users that have unsubscribed and wait for the peer's response; values still reach them.
    private var leaving: [UserCall] = []

    init(_ request: SubscriptionRequest) { self.request = request }

    // MARK: - Questions

    /// The call for which it asks the peer; nil if none waits.
    var caller: UserCall? { holders.first?.call ?? leaving.first }

    /// Whether the write of the descriptor may be on its way.
    var isEnabling: Bool { phase == .enabling }

    /// Whether a user receives values.
    func concerns(_ user: UserID) -> Bool {
        // Until the peer has ended a subscription its values are those of the users that leave: to a user that subscribes meanwhile
        // they would be the rest of something.
        phase != .disabling && holders.contains { $0.call.user == user } || leaving.contains { $0.user == user }
    }

    func isHeld(by call: UserCall) -> Bool { holders.contains { $0.call == call } }
    func isHeld(by user: UserID) -> Bool { holders.contains { $0.call.user == user } }

    // MARK: - Users

    mutating func add(_ call: UserCall) { holders.append(Holder(call: call)) }

    /// Removes holders. Those whose subscription was not confirmed end with `.cancelled`.
    ///
    /// - Parameter call: a call that ends when the peer knows.
    mutating func remove(where isMeant: (UserCall) -> Bool, for call: UserCall? = nil) -> [Effect] {
        let removed = holders.filter { isMeant($0.call) }
        holders.removeAll { isMeant($0.call) }
        if let call { leaving.append(call) }
        return removed.compactMap { $0.isConfirmed ? nil : .end($0.call, .failure(.cancelled)) }
    }

    /// A user is gone: no event follows for it.
    mutating func forget(_ user: UserID) {
        holders.removeAll { $0.call.user == user }
        leaving.removeAll { $0.user == user }
    }

    /// The write of the descriptor has been sent: from here on the values are those of the subscription.
    mutating func begin() -> [Effect] {
        var effects: [Effect] = []
        for index in holders.indices where holders[index].phase == .waiting {
            holders[index].phase = .begun
            effects.append(.began(holders[index].call))
        }
        return effects
    }

    /// The link is gone, or the characteristic.
    ///
    /// - Parameters:
    ///   - error: the error of calls that wait for the subscription to begin.
    ///   - leaving: the result of calls that wait for its end.
    func ended(_ error: HostError, leaving result: Result<CallResult, HostError>) -> [Effect] {
        holders.compactMap { $0.isConfirmed ? nil : .end($0.call, .failure(error)) }
            + leaving.map { .end($0, result) }
    }

    // MARK: - Steps

    /// - Parameters:
    ///   - descriptor: the Client Characteristic Configuration descriptor, if it is known.
    ///   - mayAsk: whether the peer may be asked for anything.
    mutating func handle(_ event: Event, descriptor: AttributeHandle?, mayAsk: Bool) -> [Effect] {
        switch (phase, event) {
        case (_, .wantChanged): return reconcile(descriptor, mayAsk)
        case (.finding, .found(let descriptors)):
            guard let found = descriptors.first(where: { $0.uuid == .clientCharacteristicConfiguration }) else {
                return refused(.notFound(.clientCharacteristicConfiguration), descriptor, mayAsk)
            }
            phase = .off
            return [.learned(descriptor: found.handle, of: request.characteristic)] + reconcile(found.handle, mayAsk)
        case (.enabling, .found), (.enabling, .written):
            phase = .on
            return confirm() + reconcile(descriptor, mayAsk)
        case (.disabling, .found), (.disabling, .written):
            phase = .off
            return left(.success(.done)) + reconcile(descriptor, mayAsk)
        case (.disabling, .failed(let error)):
            // The peer refused: values may still arrive, but no user wants them.
            phase = .off
            return left(.failure(error)) + reconcile(descriptor, mayAsk)
        case (.finding, .failed(let error)), (.enabling, .failed(let error)):
            return refused(error, descriptor, mayAsk)
        case (.finding, .written): return refused(.notFound(.clientCharacteristicConfiguration), descriptor, mayAsk)
        // The peer was not asked.
        case (.off, _), (.on, _): return []
        }
    }

    /// Moves a step towards what the users want.
    private mutating func reconcile(_ descriptor: AttributeHandle?, _ mayAsk: Bool) -> [Effect] {
        guard mayAsk else { return [] }
        switch phase {
        case .finding, .enabling, .disabling: return []
        case .on where !holders.isEmpty: return confirm() + left(.success(.done))
        case .on:
            guard let descriptor else {
                // It has gone with a change of services, and the subscription with it.
                phase = .off
                return left(.success(.done)) + [.over]
            }
            phase = .disabling
            return [.start(.configure(descriptor: descriptor, []), of: request.characteristic)]
        case .off where !holders.isEmpty:
            let effects = left(.success(.done))
            guard let descriptor else {
                phase = .finding
                let first = AttributeHandle(request.characteristic.rawValue + 1)
                return effects + [.start(.discoverDescriptors(in: first...request.end), of: request.characteristic)]
            }
            phase = .enabling
            return effects + [
                .start(.configure(descriptor: descriptor, request.configuration), of: request.characteristic)
            ]
        case .off: return left(.success(.done)) + [.over]
        }
    }

    private mutating func refused(_ error: HostError, _ descriptor: AttributeHandle?, _ mayAsk: Bool) -> [Effect] {
        phase = .off
        let ended = holders
        holders = []
        return ended.compactMap { $0.isConfirmed ? nil : .end($0.call, .failure(error)) }
            + reconcile(descriptor, mayAsk)
    }

    private mutating func confirm() -> [Effect] {
        var effects = begin()
        for index in holders.indices where !holders[index].isConfirmed {
            holders[index].phase = .confirmed
            effects.append(.end(holders[index].call, .success(.done)))
        }
        return effects
    }

    private mutating func left(_ result: Result<CallResult, HostError>) -> [Effect] {
        defer { leaving = [] }
        return leaving.map { .end($0, result) }
    }
}

extension Subscription {
    package enum PhaseName: String, CaseIterable, Sendable {
        case off, finding, enabling, on, disabling
    }

    package enum EventName: String, CaseIterable, Sendable {
        case found, written, failed, wantChanged
    }

    package var phaseName: PhaseName {
        switch phase {
        case .off: .off
        case .finding: .finding
        case .enabling: .enabling
        case .on: .on
        case .disabling: .disabling
        }
    }

    package static var transitions: [Transition<Subscription>] {
        [
            Transition(.off, .wantChanged, .finding), Transition(.off, .wantChanged, .enabling),
            Transition(.off, .wantChanged, .off),
            Transition(.finding, .found, .enabling), Transition(.finding, .found, .off),
            Transition(.finding, .written, .off), Transition(.finding, .failed, .off),
            Transition(.enabling, .found, .on), Transition(.enabling, .written, .on),
            Transition(.enabling, .found, .disabling), Transition(.enabling, .written, .disabling),
            Transition(.enabling, .failed, .off),
            // The descriptor has gone.
            Transition(.enabling, .found, .off), Transition(.enabling, .written, .off),
            Transition(.on, .wantChanged, .off),
            Transition(.on, .wantChanged, .disabling), Transition(.on, .wantChanged, .on),
            Transition(.disabling, .found, .off), Transition(.disabling, .written, .off),
            Transition(.disabling, .failed, .off),
            Transition(.disabling, .found, .enabling), Transition(.disabling, .written, .enabling),
            Transition(.disabling, .failed, .enabling),
            // Its descriptor has moved.
            Transition(.disabling, .found, .finding), Transition(.disabling, .written, .finding),
            Transition(.disabling, .failed, .finding),
        ]
    }
}
