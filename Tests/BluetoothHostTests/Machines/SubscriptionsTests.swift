import BluetoothATT
import BluetoothBase
import BluetoothGATT
import Testing

@testable import BluetoothHost
@testable import BluetoothUsers

@Suite("The subscriptions of all users on one link")
struct SubscriptionsTests {
    private static let first = SubscriptionRequest(characteristic: 3, end: 5, configuration: .notifications)
    private static let second = SubscriptionRequest(characteristic: 7, end: 9, configuration: .indications)
    private static let found = Subscription.Event.found([
        DiscoveredDescriptor(uuid: .clientCharacteristicConfiguration, handle: 4)
    ])

    /// Results of calls have no other equality.
    private func expect(
        _ effects: [Subscription.Effect]?, _ expected: [Subscription.Effect]?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect("\(effects ?? [])" == "\(expected ?? [])", sourceLocation: sourceLocation)
        #expect((effects == nil) == (expected == nil), sourceLocation: sourceLocation)
    }

    /// The subscription of one call of the first user, which the peer has confirmed.
    private func confirmed() -> Subscriptions {
        var subscriptions = Subscriptions()
        expect(
            subscriptions.add(UserCall(1), Self.first, mayAsk: true),
            [.start(.discoverDescriptors(in: 4...5), of: 3)])
        expect(
            subscriptions.handle(Self.found, of: 3, mayAsk: true),
            [.start(.configure(descriptor: 4, .notifications), of: 3)])
        expect(
            subscriptions.handle(.written, of: 3, mayAsk: true),
            [.began(UserCall(1)), .end(UserCall(1), .success(.done))])
        return subscriptions
    }

    @Test("Users of one characteristic share its subscription, and the descriptor is found once")
    func sharing() throws {
        var subscriptions = confirmed()
        let index = try #require(subscriptions.settledIndex(of: 3))
        expect(
            subscriptions.add(UserCall(2, of: 2), Self.first, mayAsk: true),
            [.began(UserCall(2, of: 2)), .end(UserCall(2, of: 2), .success(.done))])
        #expect(subscriptions.concerns(UserID(number: 1), at: index))
        #expect(subscriptions.concerns(UserID(number: 2), at: index))
        #expect(subscriptions.caller(of: 3) == UserCall(1))
        expect(
            subscriptions.remove(UserCall(1), for: UserCall(11), mayAsk: true), [.end(UserCall(11), .success(.done))])
        expect(
            subscriptions.remove(UserCall(2, of: 2), for: UserCall(12, of: 2), mayAsk: true),
            [.start(.configure(descriptor: 4, []), of: 3)])
        #expect(subscriptions.settledIndex(of: 3) == nil && subscriptions.index(of: 3) == 0)
        expect(subscriptions.handle(.written, of: 3, mayAsk: true), [.end(UserCall(12, of: 2), .success(.done))])
        #expect(subscriptions.index(of: 3) == nil && subscriptions.caller(of: 3) == nil)
        expect(
            subscriptions.add(UserCall(3), Self.first, mayAsk: true),
            [.start(.configure(descriptor: 4, .notifications), of: 3)])
        #expect(subscriptions.isEnabling(at: 0))
        expect(subscriptions.begin(at: 0), [.began(UserCall(3))])
        expect(subscriptions.begin(at: 0), [])
    }

    @Test("A call without a subscription, or an answer about a characteristic without one, has no effect")
    func unknown() {
        var subscriptions = confirmed()
        expect(subscriptions.remove(UserCall(2), mayAsk: true), nil)
        expect(subscriptions.remove(allOf: UserCall(11, of: 2), to: 3, mayAsk: true), nil)
        expect(subscriptions.remove(allOf: UserCall(11), to: 7, mayAsk: true), nil)
        expect(subscriptions.handle(.written, of: 7, mayAsk: true), [])
        // The peer was not asked.
        expect(subscriptions.handle(.failed(.timedOut), of: 3, mayAsk: true), [])
        #expect(subscriptions.settledIndex(of: 3) == 0)
    }

    @Test("A user ends all its subscriptions to a characteristic with one call, and those of others stay")
    func unsubscribingAll() {
        var subscriptions = confirmed()
        _ = subscriptions.add(UserCall(2), Self.first, mayAsk: true)
        _ = subscriptions.add(UserCall(3, of: 2), Self.first, mayAsk: true)
        expect(
            subscriptions.remove(allOf: UserCall(11), to: 3, mayAsk: true), [.end(UserCall(11), .success(.done))])
        #expect(!subscriptions.concerns(UserID(number: 1), at: 0) && subscriptions.concerns(UserID(number: 2), at: 0))
    }

    @Test("When a user leaves the link, its waiting calls end first, then its subscriptions")
    func dropping() {
        var subscriptions = confirmed()
        _ = subscriptions.add(UserCall(2), Self.second, mayAsk: true)
        _ = subscriptions.add(UserCall(3, of: 2), Self.second, mayAsk: true)
        expect(
            subscriptions.drop(UserID(number: 1), mayAsk: true),
            [.end(UserCall(2), .failure(.cancelled)), .start(.configure(descriptor: 4, []), of: 3)])
        #expect(subscriptions.caller(of: 7) == UserCall(3, of: 2))
    }

    @Test("A departed user gets no events, and the peer is asked to end its subscriptions")
    func forgetting() {
        var subscriptions = confirmed()
        subscriptions.forget(UserID(number: 1))
        #expect(!subscriptions.concerns(UserID(number: 1), at: 0))
        expect(subscriptions.reconcileAll(mayAsk: false), [])
        expect(subscriptions.reconcileAll(mayAsk: true), [.start(.configure(descriptor: 4, []), of: 3)])
    }

    @Test("A change of services ends the subscriptions in the changed handles, and forgets the descriptors there")
    func invalidation() {
        var subscriptions = confirmed()
        _ = subscriptions.add(UserCall(2, of: 2), Self.second, mayAsk: true)
        _ = subscriptions.remove(UserCall(1), for: UserCall(11), mayAsk: true)
        expect(subscriptions.invalidate(in: 8...20), [])
        expect(subscriptions.invalidate(in: 1...3), [.end(UserCall(11), .success(.done))])
        expect(subscriptions.invalidate(in: 7...7), [.end(UserCall(2, of: 2), .failure(.servicesChanged))])
        expect(
            subscriptions.add(UserCall(4), Self.first, mayAsk: true),
            [.start(.discoverDescriptors(in: 4...5), of: 3)])
    }

    @Test("A descriptor that has moved is found again, even if the characteristic has not")
    func movedDescriptor() {
        var subscriptions = confirmed()
        _ = subscriptions.remove(UserCall(1), for: UserCall(11), mayAsk: true)
        _ = subscriptions.add(UserCall(2), Self.first, mayAsk: true)
        expect(subscriptions.invalidate(in: 4...4), [])
        expect(
            subscriptions.handle(.failed(.servicesChanged), of: 3, mayAsk: true),
            [.end(UserCall(11), .failure(.servicesChanged)), .start(.discoverDescriptors(in: 4...5), of: 3)])
    }

    @Test("Unsubscribing ends at once if the descriptor is gone")
    func goneDescriptor() {
        var subscriptions = confirmed()
        expect(subscriptions.invalidate(in: 4...4), [])
        expect(
            subscriptions.remove(UserCall(1), for: UserCall(11), mayAsk: true), [.end(UserCall(11), .success(.done))])
        #expect(subscriptions.index(of: 3) == nil)
    }

    @Test("When the link ends, waiting calls end, one subscription after the other")
    func end() {
        var subscriptions = confirmed()
        _ = subscriptions.add(UserCall(2, of: 2), Self.second, mayAsk: true)
        _ = subscriptions.remove(UserCall(1), for: UserCall(11), mayAsk: true)
        let error = HostError.disconnected(.unknown)
        expect(
            subscriptions.ended(error),
            [.end(UserCall(11), .failure(error)), .end(UserCall(2, of: 2), .failure(error))])
    }
}
