import BluetoothATT
import BluetoothGATT
import BluetoothHost

/// The subscriptions of all users to values of one link's peer. Users of the same characteristic share one
/// subscription.
struct Subscriptions: Hashable, Sendable {
    private var records: [Subscription] = []
    /// The Client Characteristic Configuration descriptors found so far, by value handle.
    private var descriptors: [AttributeHandle: AttributeHandle] = [:]

    // MARK: - Values

    /// The index of the subscription to a characteristic if it is on and all its users are confirmed.
    @inline(__always)
    func settledIndex(of characteristic: AttributeHandle) -> Int? {
        records.firstIndex { $0.settledCharacteristic == characteristic }
    }

    /// The index of the subscription to a characteristic in any state.
    func index(of characteristic: AttributeHandle) -> Int? {
        records.firstIndex { $0.request.characteristic == characteristic }
    }

    /// The only user that receives the values of a subscription; nil if each user has to be asked.
    @inline(__always)
    func soleUser(at index: Int) -> UserID? { records[index].soleUser }

    /// Whether a user receives the values of a subscription.
    @inline(__always)
    func concerns(_ user: UserID, at index: Int) -> Bool { records[index].concerns(user) }

    /// Whether the write of its descriptor may have been sent to the peer.
    func isEnabling(at index: Int) -> Bool { records[index].isEnabling }

    /// The write of the descriptor has been sent.
    mutating func begin(at index: Int) -> [Subscription.Effect] { records[index].begin() }

    /// The call on whose behalf the peer is asked about a characteristic; nil if no call is waiting.
    func caller(of characteristic: AttributeHandle) -> UserCall? {
        index(of: characteristic).flatMap { records[$0].caller }
    }

    // MARK: - Users

    /// Adds a user's subscription.
    mutating func add(_ call: UserCall, _ request: SubscriptionRequest, mayAsk: Bool) -> [Subscription.Effect] {
        let index = index(of: request.characteristic) ?? records.endIndex
        if index == records.endIndex { records.append(Subscription(request)) }
        records[index].add(call)
        return handle(.wantChanged, at: index, mayAsk: mayAsk)
    }

    /// Ends the subscription of a call. Returns nil if it has none.
    ///
    /// - Parameter waiter: the call that ends once the peer has responded.
    mutating func remove(_ held: UserCall, for waiter: UserCall? = nil, mayAsk: Bool) -> [Subscription.Effect]? {
        guard let index = records.firstIndex(where: { $0.isHeld(by: held) }) else { return nil }
        let effects = records[index].remove(where: { $0 == held }, for: waiter)
        return effects + handle(.wantChanged, at: index, mayAsk: mayAsk)
    }

    /// Ends all subscriptions of a user to a characteristic. Returns nil if it has none.
    mutating func remove(
        allOf waiter: UserCall, to characteristic: AttributeHandle, mayAsk: Bool
    ) -> [Subscription.Effect]? {
        guard let index = index(of: characteristic), records[index].isHeld(by: waiter.user) else { return nil }
        let effects = records[index].remove(where: { $0.user == waiter.user }, for: waiter)
        return effects + handle(.wantChanged, at: index, mayAsk: mayAsk)
    }

    /// Removes a user that releases the link. Its calls that wait for a subscription to begin end.
    mutating func drop(_ user: UserID, mayAsk: Bool) -> [Subscription.Effect] {
        let ended = records.indices.flatMap { records[$0].remove(where: { $0.user == user }) }
        return ended + reconcileAll(mayAsk: mayAsk)
    }

    /// Removes a user that has detached. It receives no events.
    mutating func forget(_ user: UserID) { for index in records.indices { records[index].forget(user) } }

    /// Takes the next step of every subscription, because what the users want may have changed.
    mutating func reconcileAll(mayAsk: Bool) -> [Subscription.Effect] {
        records.indices.reversed().flatMap { handle(.wantChanged, at: $0, mayAsk: mayAsk) }
    }

    // MARK: - Steps

    /// Handles the peer's response about a characteristic. Has no effect if the characteristic's service has changed in
    /// the meantime.
    mutating func handle(
        _ event: Subscription.Event, of characteristic: AttributeHandle, mayAsk: Bool
    ) -> [Subscription.Effect] {
        index(of: characteristic).map { handle(event, at: $0, mayAsk: mayAsk) } ?? []
    }

    private mutating func handle(_ event: Subscription.Event, at index: Int, mayAsk: Bool) -> [Subscription.Effect] {
        let descriptor = descriptors[records[index].request.characteristic]
        return records[index].handle(event, descriptor: descriptor, mayAsk: mayAsk).filter { effect in
            switch effect {
            case .learned(let descriptor, let characteristic):
                descriptors[characteristic] = descriptor
                return false
            case .over:
                records.remove(at: index)
                return false
            case .start, .end, .began: return true
            }
        }
    }

    /// Ends the subscriptions and forgets the descriptors within these handles, because the peer's services there have
    /// changed.
    mutating func invalidate(in handles: ClosedRange<AttributeHandle>) -> [Subscription.Effect] {
        descriptors = descriptors.filter { !handles.contains($0.key) && !handles.contains($0.value) }
        let gone = records.filter { handles.contains($0.request.characteristic) }
        records.removeAll { handles.contains($0.request.characteristic) }
        return gone.flatMap { $0.ended(.servicesChanged, leaving: .success(.done)) }
    }

    /// Returns the effects of the end of the link.
    func ended(_ error: HostError) -> [Subscription.Effect] {
        records.flatMap { $0.ended(error, leaving: .failure(error)) }
    }
}
