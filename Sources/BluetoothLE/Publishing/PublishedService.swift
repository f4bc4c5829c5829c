import BluetoothUsers
import Synchronization
import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// A service this adapter offers to its peers, until it is withdrawn or the adapter is closed.
public struct PublishedService: Sendable {
    let adapter: Adapter
    public let uuid: BluetoothUUID
    /// The handles of the service in the database.
    public let handles: GATTServiceHandles
    /// The characteristics, in the order of the definition.
    public let characteristics: [PublishedCharacteristic]

    /// The first characteristic with a UUID.
    public subscript(uuid: BluetoothUUID) -> PublishedCharacteristic? { characteristics.first { $0.uuid == uuid } }

    /// Takes the service out of the database.
    public func withdraw() async throws(BluetoothError) {
        let router = adapter.router
        try router.check()
        try await router.call(.withdraw(handles.declaration))
        router.forget(handles.range)
    }
}

/// A characteristic of a published service.
public struct PublishedCharacteristic: Sendable {
    let adapter: Adapter
    public let uuid: BluetoothUUID
    /// The handle of the value.
    public let handle: AttributeHandle
    /// The events of the characteristic and its descriptors. Up to 1024 events are kept from publication on, while a
    /// copy of this sequence exists. A consumer that is further behind misses new ones: `dataLost` stands where values
    /// that were written are missing, and `subscribers` is always up to date. A request that no consumer receives is
    /// answered with Unlikely Error.
    ///
    /// One consumer: with several, each event goes to one of them.
    public let events: EventSequence<CharacteristicEvent>

    /// Sets a value that the database keeps. Subscribers are not notified of it.
    public func setValue(_ value: [UInt8]) async throws(BluetoothError) {
        try adapter.router.check()
        try await adapter.router.call(.setValue(value, of: handle))
    }

    /// The value that the database keeps; nil for a dynamic one.
    public var value: [UInt8]? {
        get async {
            guard case .value(let value) = try? await adapter.router.call(.readOwnValue(handle)) else { return nil }
            return value
        }
    }

    /// The current subscribers: every peer, if the characteristic has no Client Characteristic Configuration.
    public var subscribers: [Subscriber] {
        get async {
            adapter.router.links
                .map { Subscriber(connection: Connection(adapter: adapter, link: $0), characteristic: handle) }
                .filter { !$0.configuration.isEmpty }
        }
    }
}

/// A peer's action on a published characteristic.
public enum CharacteristicEvent: Sendable {
    /// The peer has subscribed. This may follow `subscriptionRestored` without an `unsubscribed` in between: what was sent
    /// since then may have gone to nobody.
    case subscribed(Subscriber)
    /// A bonded peer is back, and still has the subscription of an earlier connection. It receives what is sent, but its
    /// program may not listen before it subscribes by itself: begin nothing that has to arrive from its beginning.
    case subscriptionRestored(Subscriber)
    /// The peer, which was subscribed, now wants this in place of what it wanted before: notifications, indications or
    /// both.
    case subscriptionChanged(Subscriber, to: GATTClientConfiguration)
    case unsubscribed(Subscriber)
    /// The peer wrote the value of the characteristic or of a descriptor. The write has been answered, and the database
    /// keeps the value unless it is dynamic.
    case written([UInt8], to: AttributeHandle, by: Connection)
    /// Something that the peer sent was lost on its way, or dropped because this sequence is full. What it wrote without
    /// response may be missing here: do not take the rest for the whole.
    case dataLost(Connection)
    /// The peer reads a dynamic value: answer within 25 seconds.
    case readRequested(IncomingRead)
    /// The peer writes dynamic values: answer within 25 seconds.
    case writeRequested(IncomingWrite)
    /// The peer wants to read or write an attribute whose permissions ask for consent: answer within 25 seconds, or it is
    /// refused.
    case authorizationRequested(IncomingAuthorization)
}

/// A peer that is subscribed to a published characteristic.
public struct Subscriber: Hashable, Sendable {
    public let connection: Connection
    /// The handle of the characteristic's value.
    public let characteristic: AttributeHandle

    /// Whether the peer wants notifications or indications now; empty if it is no longer subscribed.
    public var configuration: GATTClientConfiguration {
        connection.link.state.withLock { $0.subscriptions[characteristic] }
            ?? connection.router.state.withLock { $0.receivers[characteristic]?.unconditional } ?? []
    }

    /// The longest value that one notification can carry now: ATT_MTU less 3 octets.
    public var maximumLength: Int {
        get async throws(BluetoothError) { try await connection.mtu - 3 }
    }

    /// Sends a notification to this subscriber alone. Waits while too much is in flight; then it is sent, once.
    ///
    /// Waiting calls are served in order.
    ///
    /// - Throws: `.valueTooLong`, `.disconnected`, or `.notSubscribed`.
    public func notify(_ value: [UInt8]) async throws(BluetoothError) {
        let link = connection.link
        if let error = refusal(ofLength: value.count) { try connection.refuse(error) }
        try await connection.takeCredit()
        guard connection.router.post(.notify(link.identifier, characteristic, value)) else {
            throw connection.router.closure
        }
    }

    /// Why a notification cannot be sent; nil if it can.
    private func refusal(ofLength length: Int) -> BluetoothError? {
        guard configuration.contains(.notifications) else { return .notSubscribed(characteristic) }
        return connection.link.refusal(ofLength: length)
    }

    /// Sends an indication to this subscriber alone, and waits for its confirmation.
    public func indicate(_ value: [UInt8]) async throws(BluetoothError) {
        try connection.router.check(connection.link)
        try await connection.router.call(.indicate(connection.link.identifier, characteristic, value))
    }
}

/// A peer's request for a dynamic value.
public struct IncomingRead: Sendable {
    public let connection: Connection
    let request: ServerRequest
    /// The attribute: the characteristic's value, or a dynamic descriptor of it.
    public let handle: AttributeHandle
    /// The offset in the value.
    public let offset: Int

    /// Answers with the whole value; the part the peer asked for is sent.
    public func respond(_ value: [UInt8]) async throws(BluetoothError) {
        guard offset <= value.count else { return try await refuse(.invalidOffset) }
        try await respond(rest: Array(value[offset...]))
    }

    /// Answers with the value from `offset` on.
    public func respond(rest: [UInt8]) async throws(BluetoothError) {
        try await connection.answer(.answer(request, rest))
    }

    /// Answers with an error.
    public func refuse(_ code: ATTErrorCode) async throws(BluetoothError) {
        try await connection.answer(.refuse(request, code))
    }
}

/// A peer's wish to access an attribute with `GATTPermissions.readNeedsAuthorization` or `writeNeedsAuthorization` (Core 5.4, Vol
/// 3, Part C, 10.5). What the peer has sent waits for the answer; other peers, and other requests of this one, do not.
public struct IncomingAuthorization: Sendable {
    public let connection: Connection
    let request: ServerRequest
    /// The attribute: the characteristic's value, or a descriptor of it.
    public let handle: AttributeHandle
    /// What the peer wants to do.
    public let access: GATTAccess

    /// Lets the peer do it, now and for the rest of the connection.
    public func allow() async throws(BluetoothError) {
        try await connection.answer(.authorize(request))
    }

    /// Answers with Insufficient Authorization. The peer may try again, and there is a new request then.
    public func refuse() async throws(BluetoothError) {
        try await connection.answer(.refuse(request, .insufficientAuthorization))
    }
}

/// A peer's request to write dynamic values. Accept all of them, or none.
public struct IncomingWrite: Sendable {
    public let connection: Connection
    let request: ServerRequest
    /// The values in order: one for a write, the parts for executed queued writes.
    public let parts: [Part]

    public struct Part: Equatable, Sendable {
        public var handle: AttributeHandle
        /// Where in the attribute's value the part goes.
        public var offset: Int
        public var value: [UInt8]
    }

    /// Accepts the values, and answers the peer.
    public func accept() async throws(BluetoothError) {
        try await connection.answer(.accept(request))
    }

    /// Answers with an error.
    public func refuse(_ code: ATTErrorCode) async throws(BluetoothError) {
        try await connection.answer(.refuse(request, code))
    }
}

extension Connection {
    fileprivate func answer(_ call: HostCall.Kind) async throws(BluetoothError) {
        try router.check(link)
        try await router.call(call)
    }
}
