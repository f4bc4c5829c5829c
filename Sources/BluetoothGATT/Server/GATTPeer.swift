import BluetoothATT
import BluetoothBase

/// A server's state for one client, over all its channels.
public struct GATTPeer: Sendable {
    /// The client's subscriptions, in ascending order of characteristics. For a bonded client they are kept for the
    /// next connection (Core 5.4, Vol 3, Part G, 2.4).
    public internal(set) var subscriptions: [GATTSubscription]
    /// The Client Supported Features (Vol 3, Part G, 7.2); also kept for a bonded client.
    public internal(set) var clientSupportedFeatures: GATTClientSupportedFeatures
    /// Whether the client knows of the last change of the database.
    var changeAwareness = GATTChangeAwareness.aware
    /// How often the database has changed.
    private(set) var changeCount: UInt32 = 0
    /// The channel over which each of `subscriptions` was made: its notifications go there.
    private(set) var subscriptionChannels: [AttributeChannel.ID]
    /// The characteristics whose subscriptions were restored, and that the client has not written to since.
    private var restored: [AttributeHandle] = []
    /// The writes that wait for an Execute Write Request.
    public internal(set) var preparedWrites: GATTPreparedWrites
    /// What the application has allowed the client on this link.
    var authorizations: Set<GATTAuthorization> = []
    /// The current security of the link to the client.
    public var security = LinkSecurity.unprotected

    /// - Parameters:
    ///   - subscriptions: Those of a bonded client's last connection.
    ///   - preparedWriteLimits: How much the client may queue.
    public init(
        subscriptions: [GATTSubscription] = [], clientSupportedFeatures: GATTClientSupportedFeatures = [],
        preparedWriteLimits: GATTPreparedWrites.Limits = .init()
    ) {
        self.subscriptions = subscriptions.sorted { $0.characteristic < $1.characteristic }
        subscriptionChannels = subscriptions.map { _ in .first }
        self.clientSupportedFeatures = clientSupportedFeatures
        preparedWrites = GATTPreparedWrites(limits: preparedWriteLimits)
    }

    /// The client's configuration of the characteristic with its value at `characteristic`.
    public func configuration(of characteristic: AttributeHandle) -> GATTClientConfiguration {
        subscription(of: characteristic)?.configuration ?? []
    }

    /// Whether the client relies on handles that may be wrong now (Vol 3, Part G, 2.5.2.1): it is served, and notified, only
    /// after it has learnt of the change.
    public var isChangeUnaware: Bool { changeAwareness != .aware }

    /// Notes that the database has changed. It concerns clients that have asked for robust caching.
    mutating func databaseChanged() {
        changeCount &+= 1
        if clientSupportedFeatures.contains(.robustCaching) { changeAwareness = .unaware }
    }

    /// Forgets attributes that were removed from the database.
    mutating func forget(_ handles: ClosedRange<AttributeHandle>) {
        let start = position(of: handles.lowerBound)
        var end = start
        while end < subscriptions.count, subscriptions[end].characteristic <= handles.upperBound { end &+= 1 }
        if end > start {
            subscriptions.removeSubrange(start..<end)
            subscriptionChannels.removeSubrange(start..<end)
        }
        preparedWrites.removeAll(in: handles)
        authorizations = authorizations.filter { !handles.contains($0.handle) }
    }

    // MARK: - Subscriptions

    /// Takes over what a bonded client configured on an earlier link, as far as the database still has it, and returns what
    /// has changed by that. What the client has configured on this link stays.
    mutating func restore(
        _ stored: [GATTSubscription], features: GATTClientSupportedFeatures, in database: GATTDatabase
    ) -> [GATTSubscriptionChange] {
        clientSupportedFeatures.formUnion(features)
        return stored.compactMap { stored in
            guard subscription(of: stored.characteristic) == nil,
                let index = database.index(of: stored.descriptor),
                case .clientConfiguration(stored.characteristic, let supported) = database.rows[index].storage,
                stored.configuration.isSubset(of: supported)
            else { return nil }
            var change = configure(stored.characteristic, descriptor: stored.descriptor, stored.configuration)
            change.isRestored = true
            restored.append(stored.characteristic)
            return change
        }
    }

    /// Stores what the client has written. Its first word on this link about a subscription that was restored begins that
    /// anew, even where it says the same.
    mutating func write(
        _ characteristic: AttributeHandle, descriptor: AttributeHandle, _ new: GATTClientConfiguration
    ) -> GATTSubscriptionChange {
        var change = configure(characteristic, descriptor: descriptor, new)
        if !restored.isEmpty, let index = restored.firstIndex(of: characteristic) {
            restored.remove(at: index)
            if !new.isEmpty { change.old = [] }
        }
        return change
    }

    /// The place of a characteristic among the subscriptions, or where it belongs.
    @inline(__always)
    func position(of characteristic: AttributeHandle) -> Int {
        var low = 0
        var high = subscriptions.count
        while low < high {
            let middle = (low &+ high) &>> 1
            if subscriptions[middle].characteristic < characteristic { low = middle &+ 1 } else { high = middle }
        }
        return low
    }

    /// The place of a characteristic among the subscriptions, if there is one of it.
    @inline(__always)
    func index(of characteristic: AttributeHandle) -> Int? {
        let position = position(of: characteristic)
        guard position < subscriptions.count, subscriptions[position].characteristic == characteristic else {
            return nil
        }
        return position
    }

    @inline(__always)
    func subscription(of characteristic: AttributeHandle) -> GATTSubscription? {
        index(of: characteristic).map { subscriptions[$0] }
    }

    /// Notes over which channel a subscription was made.
    mutating func setChannel(_ channel: AttributeChannel.ID, of characteristic: AttributeHandle) {
        if let index = index(of: characteristic) { subscriptionChannels[index] = channel }
    }

    /// A channel is gone: what was subscribed to over it goes over the first one.
    mutating func channelClosed(_ channel: AttributeChannel.ID) {
        for index in subscriptionChannels.indices where subscriptionChannels[index] == channel {
            subscriptionChannels[index] = .first
        }
    }

    /// Stores a configuration, and returns how it changed.
    mutating func configure(
        _ characteristic: AttributeHandle, descriptor: AttributeHandle, _ new: GATTClientConfiguration
    ) -> GATTSubscriptionChange {
        let position = position(of: characteristic)
        let known = position < subscriptions.count && subscriptions[position].characteristic == characteristic
        let old = known ? subscriptions[position].configuration : []
        switch (known, new.isEmpty) {
        case (true, true):
            subscriptions.remove(at: position)
            subscriptionChannels.remove(at: position)
        case (true, false): subscriptions[position].configuration = new
        case (false, false):
            let entry = GATTSubscription(characteristic: characteristic, descriptor: descriptor, configuration: new)
            subscriptions.insert(entry, at: position)
            subscriptionChannels.insert(.first, at: position)
        case (false, true): break
        }
        return GATTSubscriptionChange(characteristic: characteristic, old: old, new: new)
    }
}

/// A characteristic that a client has subscribed to.
public struct GATTSubscription: Hashable, Sendable {
    /// The handle of the characteristic's value.
    public var characteristic: AttributeHandle
    /// The handle of its Client Characteristic Configuration descriptor.
    public var descriptor: AttributeHandle
    public var configuration: GATTClientConfiguration

    public init(
        characteristic: AttributeHandle, descriptor: AttributeHandle, configuration: GATTClientConfiguration
    ) {
        self.characteristic = characteristic
        self.descriptor = descriptor
        self.configuration = configuration
    }
}

/// What a client can do (Core 5.4, Vol 3, Part G, 7.2).
public struct GATTClientSupportedFeatures: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable public static var robustCaching: Self { .init(rawValue: 0x01) }
    @inlinable public static var enhancedATTBearer: Self { .init(rawValue: 0x02) }
    @inlinable public static var multipleHandleValueNotifications: Self { .init(rawValue: 0x04) }

    /// The defined bits; the others are reserved and ignored.
    static var known: Self { [.robustCaching, .enhancedATTBearer, .multipleHandleValueNotifications] }
}
