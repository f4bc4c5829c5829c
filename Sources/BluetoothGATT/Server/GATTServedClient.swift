import BluetoothATT
import BluetoothBase

/// A server's state for one client, across all its channels.
public struct GATTServedClient: Sendable {
    /// The client's subscriptions, in ascending order of characteristics. For a bonded client they are kept for the
    /// next connection (Core 5.4, Vol 3, Part G, 2.4).
    public internal(set) var subscriptions: [GATTSubscription]
    /// The Client Supported Features (Vol 3, Part G, 7.2); also kept for a bonded client.
    public internal(set) var clientSupportedFeatures: GATTClientSupportedFeatures
    /// Whether the client knows about the last change of the database.
    var changeAwareness = GATTChangeAwareness.aware
    /// The number of times the database has changed.
    private(set) var changeCount: UInt32 = 0
    /// The channel on which each of `subscriptions` was made. Its notifications go there.
    private(set) var subscriptionChannels: [AttributeChannel.ID]
    /// The characteristics whose subscriptions were restored and not written by the client since.
    private var restored: [AttributeHandle] = []
    /// The writes that wait for an Execute Write Request.
    public internal(set) var preparedWrites: GATTPreparedWrites
    /// The accesses that the application has authorized on this link.
    var authorizations: Set<GATTAuthorization> = []
    /// The current security of the link to the client.
    public var security = LinkSecurity.unprotected

    /// Creates the state of a client that has just connected.
    ///
    /// - Parameters:
    ///   - subscriptions: The subscriptions of a bonded client's last connection.
    ///   - preparedWriteLimits: The limits on the client's queued writes.
    public init(
        subscriptions: [GATTSubscription] = [], clientSupportedFeatures: GATTClientSupportedFeatures = [],
        preparedWriteLimits: GATTPreparedWrites.Limits = .init()
    ) {
        self.subscriptions = subscriptions.sorted { $0.characteristic < $1.characteristic }
        subscriptionChannels = subscriptions.map { _ in .first }
        self.clientSupportedFeatures = clientSupportedFeatures
        preparedWrites = GATTPreparedWrites(limits: preparedWriteLimits)
    }

    /// The client's configuration of the characteristic whose value is at `characteristic`.
    public func configuration(of characteristic: AttributeHandle) -> GATTClientConfiguration {
        subscription(of: characteristic)?.configuration ?? []
    }

    /// Whether the client relies on handles that may be wrong now (Vol 3, Part G, 2.5.2.1). It is served and notified
    /// only after it has learned of the change.
    public var isChangeUnaware: Bool { changeAwareness != .aware }

    /// Records that the database has changed. This affects only clients that use robust caching.
    mutating func databaseChanged() {
        changeCount &+= 1
        if clientSupportedFeatures.contains(.robustCaching) { changeAwareness = .unaware }
    }

    /// Discards the state for attributes that were removed from the database.
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

    /// Restores what a bonded client configured on an earlier link, as far as the database still has it, and returns
    /// the changes. Anything that the client has configured on this link stays.
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

    /// Stores a configuration that the client has written. The first write on this link to a restored subscription
    /// starts the subscription over, even if the configuration is the same.
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

    /// The index of a characteristic's subscription, or where it would be inserted.
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

    /// The index of a characteristic's subscription; nil if the client has not subscribed to it.
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

    /// Records the channel on which a subscription was made.
    mutating func setChannel(_ channel: AttributeChannel.ID, of characteristic: AttributeHandle) {
        if let index = index(of: characteristic) { subscriptionChannels[index] = channel }
    }

    /// Moves the subscriptions made on a closed channel to the first channel.
    mutating func channelClosed(_ channel: AttributeChannel.ID) {
        for index in subscriptionChannels.indices where subscriptionChannels[index] == channel {
            subscriptionChannels[index] = .first
        }
    }

    /// Stores a configuration and returns the change.
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
    /// The value that the client has written to the descriptor: notifications, indications or both.
    public var configuration: GATTClientConfiguration

    /// Creates a subscription to the characteristic whose value is at `characteristic`.
    public init(
        characteristic: AttributeHandle, descriptor: AttributeHandle, configuration: GATTClientConfiguration
    ) {
        self.characteristic = characteristic
        self.descriptor = descriptor
        self.configuration = configuration
    }
}

/// The features that a client supports (Core 5.4, Vol 3, Part G, 7.2).
public struct GATTClientSupportedFeatures: OptionSet, Hashable, Sendable {
    /// The first octet of the characteristic's value.
    public var rawValue: UInt8

    /// Creates features from the first octet of the characteristic's value. Reserved bits are kept.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Robust Caching: the server tracks whether the client knows of database changes (Vol 3, Part G, 2.5.2.1).
    @inlinable public static var robustCaching: Self { .init(rawValue: 0x01) }
    /// The client supports the Enhanced ATT bearer.
    @inlinable public static var enhancedATTBearer: Self { .init(rawValue: 0x02) }
    /// The client accepts ATT_MULTIPLE_HANDLE_VALUE_NTF.
    @inlinable public static var multipleHandleValueNotifications: Self { .init(rawValue: 0x04) }

    /// The defined bits; the others are reserved and ignored.
    static var known: Self { [.robustCaching, .enhancedATTBearer, .multipleHandleValueNotifications] }
}
