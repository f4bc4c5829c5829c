import BluetoothUsers
import Synchronization
import BluetoothATT
import BluetoothAdapter
import BluetoothBase
import BluetoothGATT
import BluetoothHost

/// A service that this adapter offers to its peers, until it is withdrawn or the adapter is closed.
public struct PublishedService: Sendable {
    let adapter: Adapter
    /// The UUID that identifies the type of the service.
    public let uuid: BluetoothUUID
    /// The handles of the service in the database.
    public let handles: GATTServiceHandles
    /// The characteristics, in the order of the definition.
    public let characteristics: [PublishedCharacteristic]

    /// The first characteristic with a UUID.
    public subscript(uuid: BluetoothUUID) -> PublishedCharacteristic? { characteristics.first { $0.uuid == uuid } }

    /// Removes the service from the database.
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
    /// The UUID that identifies the type of the characteristic.
    public let uuid: BluetoothUUID
    /// The handle of the value.
    public let handle: AttributeHandle
    /// The events of the characteristic and its descriptors.
    ///
    /// Up to 1024 events are buffered, from publication on, while a copy of this sequence exists. A consumer that falls
    /// further behind misses new events. `dataLost` then takes the place of missing written values, and `subscribers`
    /// is always up to date. A request that no consumer receives is answered with Unlikely Error.
    ///
    /// Use one consumer. With several, each event goes to only one of them.
    public let events: EventSequence<CharacteristicEvent>

    /// Sets the value that the database stores. Subscribers are not notified.
    public func setValue(_ value: some Collection<UInt8>) async throws(BluetoothError) {
        let value = Array(value)
        try adapter.router.check()
        try await adapter.router.call(.setValue(value, of: handle))
    }

    /// The value that the database stores; nil for a dynamic value.
    public var value: [UInt8]? {
        get async {
            guard case .value(let value) = try? await adapter.router.call(.readOwnValue(handle)) else { return nil }
            return value
        }
    }

    /// The current subscribers. A characteristic without a Client Characteristic Configuration is sent to every peer.
    public var subscribers: [Subscriber] {
        adapter.router.links
            .map { Subscriber(connection: Connection(adapter: adapter, link: $0), characteristic: handle) }
            .filter { !$0.configuration.isEmpty }
    }
}

/// A peer's action on a published characteristic.
@nonexhaustive
public enum CharacteristicEvent: Sendable {
    /// The peer has subscribed. This may follow `subscriptionRestored` without an `unsubscribed` in between. In that
    /// case, values sent since then may not have reached the peer's application.
    case subscribed(Subscriber)
    /// A bonded peer has reconnected, and still has its subscription from an earlier connection. It receives the values
    /// that are sent, but its application may not listen until it subscribes again. Do not start a transfer that must
    /// arrive from its beginning.
    case subscriptionRestored(Subscriber)
    /// A subscribed peer has changed its subscription to this: notifications, indications or both.
    case subscriptionChanged(Subscriber, to: GATTClientConfiguration)
    case unsubscribed(Subscriber)
    /// The peer wrote the value of the characteristic or of a descriptor. The write has been answered. The database
    /// stores the value unless it is dynamic.
    case written([UInt8], to: AttributeHandle, by: Connection)
    /// Data from the peer was lost on the link, or dropped because this sequence is full. Values that the peer wrote
    /// without a response may be missing here, so the remaining ones may be incomplete.
    case dataLost(Connection)
    /// The peer reads a dynamic value. Respond within 25 seconds.
    case readRequested(IncomingRead)
    /// The peer writes dynamic values. Respond within 25 seconds.
    case writeRequested(IncomingWrite)
    /// The peer requests access to an attribute whose permissions require authorization. Without an answer within 25
    /// seconds, the access is refused.
    case authorizationRequested(IncomingAuthorization)
}

/// A peer that is subscribed to a published characteristic.
public struct Subscriber: Hashable, Sendable {
    /// The link to the subscribed peer.
    public let connection: Connection
    /// The handle of the characteristic's value.
    public let characteristic: AttributeHandle

    /// The peer's current subscription: notifications, indications or both. Empty if it is no longer subscribed.
    public var configuration: GATTClientConfiguration {
        let configuration = connection.link.state.withLock { $0.subscriptions[characteristic] }
        guard configuration.isEmpty else { return configuration }
        return connection.router.state.withLock { $0.receivers[characteristic]?.unconditional } ?? []
    }

    /// The maximum length of a value in one notification at this time: ATT_MTU minus 3 octets.
    public var maximumLength: Int { connection.mtu - 3 }

    /// Sends a notification to this subscriber only. Suspends while the link's queue is full. The notification is then
    /// sent, exactly once.
    ///
    /// Waiting calls are served in order.
    ///
    /// - Throws: `.valueTooLong`, `.disconnected`, or `.notSubscribed`.
    @inlinable
    public func notify(_ value: some Collection<UInt8>) async throws(BluetoothError) {
        try await notify(octets: Array(value))
    }

    @usableFromInline
    func notify(octets value: [UInt8]) async throws(BluetoothError) {
        let link = connection.link
        if let error = refusal(ofLength: value.count) { try connection.refuse(error) }
        if try !connection.takeAvailableCredit() { try await connection.waitForCredit() }
        guard connection.router.post(.notify(link.identifier, characteristic, value)) else {
            throw connection.router.closure
        }
    }

    /// The reason why a notification cannot be sent; nil if it can.
    private func refusal(ofLength length: Int) -> BluetoothError? {
        guard configuration.contains(.notifications) else { return .notSubscribed(characteristic) }
        return connection.link.refusal(ofLength: length)
    }

    /// Sends an indication to this subscriber only, and waits for its confirmation.
    public func indicate(_ value: some Collection<UInt8>) async throws(BluetoothError) {
        let value = Array(value)
        let link = connection.link
        try await connection.router.call(.indicate(link.identifier, characteristic, value), on: link)
    }
}

/// A peer's request to read a dynamic value.
public struct IncomingRead: Sendable {
    /// The link to the peer that reads the value. If it ends, the request can no longer be answered.
    public let connection: Connection
    let request: ServerRequest
    /// The attribute: the characteristic's value, or one of its dynamic descriptors.
    public let handle: AttributeHandle
    /// The offset in the value from which the peer reads.
    public let offset: Int

    /// Responds with the whole value. The host sends the part that the peer asked for.
    public func respond(_ value: some Collection<UInt8>) async throws(BluetoothError) {
        guard offset <= value.count else { return try await refuse(.invalidOffset) }
        try await respond(remaining: value.dropFirst(offset))
    }

    /// Responds with the remaining part of the value, from `offset` on.
    public func respond(remaining part: some Collection<UInt8>) async throws(BluetoothError) {
        let part = Array(part)
        try await connection.answer(.answer(request, part))
    }

    /// Responds with an error.
    public func refuse(_ code: ATTErrorCode) async throws(BluetoothError) {
        try await connection.answer(.refuse(request, code))
    }
}

/// A peer's request to access an attribute with `GATTPermissions.readNeedsAuthorization` or `writeNeedsAuthorization`
/// (Core 5.4, Vol 3, Part C, 10.5). The peer's operation waits for the answer. Other peers, and other requests from
/// this peer, do not wait.
public struct IncomingAuthorization: Sendable {
    /// The link to the peer that requests the access, to which the authorization is limited.
    public let connection: Connection
    let request: ServerRequest
    /// The attribute: the characteristic's value, or one of its descriptors.
    public let handle: AttributeHandle
    /// The access that the peer requests.
    public let access: GATTAccess

    /// Allows the access, now and for the rest of the connection.
    public func accept() async throws(BluetoothError) {
        try await connection.answer(.authorize(request))
    }

    /// Refuses the access with Insufficient Authorization. The peer may try again, which results in a new request.
    public func refuse() async throws(BluetoothError) {
        try await connection.answer(.refuse(request, .insufficientAuthorization))
    }
}

/// A peer's request to write dynamic values. Accept all of them, or none.
public struct IncomingWrite: Sendable {
    /// The link to the peer that writes the values. If it ends, the request can no longer be answered.
    public let connection: Connection
    let request: ServerRequest
    /// The values in order: one for a write request, or the parts of executed queued writes.
    public let parts: [Part]

    /// A value, or a part of one, that the peer writes to one attribute.
    public struct Part: Equatable, Sendable {
        /// The attribute to write. Queued writes to dynamic values may also include parts for values that the database
        /// stores.
        public var handle: AttributeHandle
        /// The offset of the part in the attribute's value.
        public var offset: Int
        /// The octets to write at `offset`.
        public var value: [UInt8]
    }

    /// Accepts the values, and responds to the peer.
    public func accept() async throws(BluetoothError) {
        try await connection.answer(.accept(request))
    }

    /// Responds with an error.
    public func refuse(_ code: ATTErrorCode) async throws(BluetoothError) {
        try await connection.answer(.refuse(request, code))
    }
}

extension Connection {
    fileprivate func answer(_ call: HostCall.Kind) async throws(BluetoothError) {
        try await router.call(call, on: link)
    }
}
