import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// One characteristic of a peer, and the users subscribed to it. Compares what the users want with what was written to
/// the peer, and moves towards it one step at a time.
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
            /// The write of the descriptor has not been sent. Values received now belong to an earlier subscription.
            case waiting
            /// The write has been sent, and the user has been notified. Values received now belong to its subscription.
            case begun
            /// The peer has responded to the write.
            case confirmed
        }

        let call: UserCall
        var phase = Phase.waiting

        var isConfirmed: Bool { phase == .confirmed }
    }

    enum Event: Sendable {
        /// The peer returned these descriptors.
        case found([DiscoveredDescriptor])
        /// The peer accepted the configuration.
        case written
        case failed(HostError)
        /// What the users want may have changed.
        case wantChanged
    }

    enum Effect: Sendable {
        /// Start an operation of the GATT client. Its outcome is the next event.
        case start(GATTClientOperation, of: AttributeHandle)
        case end(UserCall, Result<CallResult, HostError>)
        /// From now on, values belong to the subscription of this call.
        case began(UserCall)
        /// The Client Characteristic Configuration descriptor has this handle.
        case learned(descriptor: AttributeHandle, of: AttributeHandle)
        /// No user holds the subscription any more.
        case over
    }

    let request: SubscriptionRequest
    private var phase = Phase.off {
        didSet { settledCharacteristic = phase == .on ? request.characteristic : 0 }
    }
    /// The characteristic's value handle while the subscription is on, which implies that all holders are confirmed;
    /// otherwise 0. Lets a value be routed with a single comparison.
    private(set) var settledCharacteristic: AttributeHandle = 0
    private var holders: [Holder] = []
    /// Calls of users that have unsubscribed and wait for the peer's response. These users still receive values.
    private var leaving: [UserCall] = []

    init(_ request: SubscriptionRequest) { self.request = request }

    // MARK: - Queries

    /// The call on whose behalf the peer is asked; nil if no call is waiting.
    var caller: UserCall? { holders.first?.call ?? leaving.first }

    /// Whether the write of the descriptor may have been sent.
    var isEnabling: Bool { phase == .enabling }

    /// Whether a user receives the values.
    func concerns(_ user: UserID) -> Bool {
        // While the subscription ends, its values belong to the users that are leaving. A user that subscribes in the
        // meantime would receive the remainder of a subscription that is not its own.
        phase != .disabling && holders.contains { $0.call.user == user } || leaving.contains { $0.user == user }
    }

    /// The only user that receives the values; nil if each user has to be asked.
    var soleUser: UserID? {
        phase == .on && holders.count == 1 && leaving.isEmpty ? holders[0].call.user : nil
    }

    func isHeld(by call: UserCall) -> Bool { holders.contains { $0.call == call } }
    func isHeld(by user: UserID) -> Bool { holders.contains { $0.call.user == user } }

    // MARK: - Users

    mutating func add(_ call: UserCall) { holders.append(Holder(call: call)) }

    /// Removes holders. Holders that were not confirmed end with `.cancelled`.
    ///
    /// - Parameter call: a call that ends once the peer has responded.
    mutating func remove(where isMeant: (UserCall) -> Bool, for call: UserCall? = nil) -> [Effect] {
        let removed = holders.filter { isMeant($0.call) }
        holders.removeAll { isMeant($0.call) }
        if let call { leaving.append(call) }
        return removed.compactMap { $0.isConfirmed ? nil : .end($0.call, .failure(.cancelled)) }
    }

    /// Removes a user that has detached. It receives no events.
    mutating func forget(_ user: UserID) {
        holders.removeAll { $0.call.user == user }
        leaving.removeAll { $0.user == user }
    }

    /// The write of the descriptor has been sent. From now on, values belong to this subscription.
    mutating func begin() -> [Effect] {
        var effects: [Effect] = []
        for index in holders.indices where holders[index].phase == .waiting {
            holders[index].phase = .begun
            effects.append(.began(holders[index].call))
        }
        return effects
    }

    /// Returns the effects of the end of the link, or of the removal of the characteristic.
    ///
    /// - Parameters:
    ///   - error: the error for calls that wait for the subscription to begin.
    ///   - leaving: the result for calls that wait for it to end.
    func ended(_ error: HostError, leaving result: Result<CallResult, HostError>) -> [Effect] {
        holders.compactMap { $0.isConfirmed ? nil : .end($0.call, .failure(error)) }
            + leaving.map { .end($0, result) }
    }

    // MARK: - Steps

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - descriptor: the handle of the Client Characteristic Configuration descriptor, if known.
    ///   - mayAsk: whether requests may be sent to the peer.
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
            // The peer refused. Values may still arrive, but no user wants them.
            phase = .off
            return left(.failure(error)) + reconcile(descriptor, mayAsk)
        case (.finding, .failed(let error)), (.enabling, .failed(let error)):
            return refused(error, descriptor, mayAsk)
        case (.finding, .written): return refused(.notFound(.clientCharacteristicConfiguration), descriptor, mayAsk)
        // No request is pending in these phases.
        case (.off, _), (.on, _): return []
        }
    }

    /// Takes one step towards the state that the users have requested.
    private mutating func reconcile(_ descriptor: AttributeHandle?, _ mayAsk: Bool) -> [Effect] {
        guard mayAsk else { return [] }
        switch phase {
        case .finding, .enabling, .disabling: return []
        case .on where !holders.isEmpty: return confirm() + left(.success(.done))
        case .on:
            guard let descriptor else {
                // A service change removed the descriptor, and the subscription with it.
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
            // The descriptor no longer exists.
            Transition(.enabling, .found, .off), Transition(.enabling, .written, .off),
            Transition(.on, .wantChanged, .off),
            Transition(.on, .wantChanged, .disabling), Transition(.on, .wantChanged, .on),
            Transition(.disabling, .found, .off), Transition(.disabling, .written, .off),
            Transition(.disabling, .failed, .off),
            Transition(.disabling, .found, .enabling), Transition(.disabling, .written, .enabling),
            Transition(.disabling, .failed, .enabling),
            // The handle of the descriptor has changed.
            Transition(.disabling, .found, .finding), Transition(.disabling, .written, .finding),
            Transition(.disabling, .failed, .finding),
        ]
    }
}
