import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// A value that is sent at its time.
public struct ScheduledNotification: Equatable, Sendable {
    /// The handle of the characteristic's value.
    public var handle: AttributeHandle
    /// How long after its origin.
    public var time: Duration
    public var origin: DeviceDocument.Notification.Origin
    public var octets: [UInt8]
    /// Nil for whatever the client has subscribed to, notifications if it is both.
    public var isIndication: Bool?

    public init(
        handle: AttributeHandle, time: Duration, origin: DeviceDocument.Notification.Origin, octets: [UInt8],
        isIndication: Bool? = nil
    ) {
        self.handle = handle
        self.time = time
        self.origin = origin
        self.octets = octets
        self.isIndication = isIndication
    }
}

/// What one client is to be sent, and when: a value that reads no clock.
///
/// Each subscription begins a characteristic's list anew, and its end stops it.
public struct NotificationSchedule: Sendable {
    /// One list, and how far it has come.
    private struct Track: Sendable {
        let handle: AttributeHandle
        let items: [ScheduledNotification]
        var start: Instant?
        var next = 0

        var deadline: Instant? {
            guard let start, next < items.count else { return nil }
            return start.advanced(by: items[next].time)
        }
    }

    private var tracks: [Track] = []

    /// - Parameter notifications: in the order of their times.
    public init(_ notifications: [ScheduledNotification]) {
        for origin in [DeviceDocument.Notification.Origin.subscription, .connection] {
            var lists: [AttributeHandle: [ScheduledNotification]] = [:]
            for notification in notifications where notification.origin == origin {
                lists[notification.handle, default: []].append(notification)
            }
            for (handle, items) in lists.sorted(by: { $0.key < $1.key }) {
                tracks.append(Track(handle: handle, items: items))
            }
        }
    }

    /// The client has connected.
    public mutating func connected(at now: Instant) {
        for index in tracks.indices where tracks[index].items.first?.origin == .connection {
            (tracks[index].start, tracks[index].next) = (now, 0)
        }
    }

    /// The client has subscribed to a characteristic, anew or for the first time.
    public mutating func subscribed(to handle: AttributeHandle, at now: Instant) {
        for index in tracks.indices
        where tracks[index].handle == handle && tracks[index].items.first?.origin == .subscription {
            (tracks[index].start, tracks[index].next) = (now, 0)
        }
    }

    /// The client's subscription has ended.
    public mutating func unsubscribed(from handle: AttributeHandle) {
        for index in tracks.indices
        where tracks[index].handle == handle && tracks[index].items.first?.origin == .subscription {
            tracks[index].start = nil
        }
    }

    /// When `take` has something.
    public var nextDeadline: Instant? {
        tracks.reduce(nil) { earliest($0, $1.deadline) }
    }

    /// The next value that is due; nil if none is. They come in the order of their times.
    public mutating func take(at now: Instant) -> ScheduledNotification? {
        var due: Int?
        for index in tracks.indices {
            guard let deadline = tracks[index].deadline, deadline <= now else { continue }
            if let other = due, let earlier = tracks[other].deadline, earlier <= deadline { continue }
            due = index
        }
        guard let due else { return nil }
        defer { tracks[due].next += 1 }
        return tracks[due].items[tracks[due].next]
    }
}

/// Notes when a device notifies: a value that reads no clock.
public struct NotificationRecorder: Sendable {
    /// The most values that are kept.
    public static let maximumCount = 1_000_000

    private var subscriptions: [AttributeHandle: Instant] = [:]
    public private(set) var notifications: [DeviceDocument.Notification] = []
    /// How many values came after the last that could be kept.
    public private(set) var droppedCount = 0

    public init() {}

    /// The device has accepted a subscription.
    public mutating func subscribed(to handle: AttributeHandle, at now: Instant) { subscriptions[handle] = now }

    /// The device has sent a value.
    public mutating func received(
        _ octets: [UInt8], of handle: AttributeHandle, isIndication: Bool? = nil, at now: Instant
    ) {
        guard notifications.count < Self.maximumCount else { return droppedCount += 1 }
        // A value may overtake the answer to the subscription.
        let start = subscriptions[handle] ?? now
        var notification = DeviceDocument.Notification(
            .handle(handle), after: max(.zero, start.duration(to: now)),
            Array(octets.prefix(GATTAttributeValue.maximumLength)))
        notification.isIndication = isIndication
        notifications.append(notification)
    }
}
