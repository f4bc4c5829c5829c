import BluetoothATT
import BluetoothBase
import BluetoothGATT

/// A value that is sent at a scheduled time.
public struct ScheduledNotification: Equatable, Sendable {
    /// The handle of the characteristic's value.
    public var handle: AttributeHandle
    /// The time after the origin at which the value is sent.
    public var time: Duration
    /// The event at which `time` starts.
    public var origin: DeviceDocument.Notification.Origin
    /// The value to send.
    public var octets: [UInt8]
    /// Whether to send the value as an indication. If nil, it is sent as what the client has subscribed to, or as a
    /// notification if the client has subscribed to both.
    public var isIndication: Bool?

    /// Creates a scheduled value of the characteristic whose value is at `handle`.
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

/// The schedule of the notifications for one client. It reads no clock; the caller passes the time.
///
/// Each subscription restarts the list of its characteristic, and the end of the subscription stops it.
public struct NotificationSchedule: Sendable {
    /// A list of notifications, with the position of the next one.
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

    /// Creates a player of notifications.
    ///
    /// - Parameter notifications: the notifications, in order of time.
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

    /// Records that the client has connected.
    public mutating func connected(at now: Instant) {
        for index in tracks.indices where tracks[index].items.first?.origin == .connection {
            (tracks[index].start, tracks[index].next) = (now, 0)
        }
    }

    /// Records that the client has subscribed to a characteristic, for the first time or again.
    public mutating func subscribed(to handle: AttributeHandle, at now: Instant) {
        for index in tracks.indices
        where tracks[index].handle == handle && tracks[index].items.first?.origin == .subscription {
            (tracks[index].start, tracks[index].next) = (now, 0)
        }
    }

    /// Records that the client's subscription has ended.
    public mutating func unsubscribed(from handle: AttributeHandle) {
        for index in tracks.indices
        where tracks[index].handle == handle && tracks[index].items.first?.origin == .subscription {
            tracks[index].start = nil
        }
    }

    /// The time at which `take` will return the next value.
    public var nextDeadline: Instant? {
        tracks.reduce(nil) { earliest($0, $1.deadline) }
    }

    /// Removes and returns the next value that is due, in order of time. Returns nil if no value is due.
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

/// Records the notifications of a device and their times. It reads no clock; the caller passes the time.
public struct NotificationRecorder: Sendable {
    /// The maximum number of recorded values.
    public static let maximumCount = 1_000_000

    private var subscriptions: [AttributeHandle: Instant] = [:]
    /// The recorded values, in the order of arrival; at most `maximumCount`.
    public private(set) var notifications: [DeviceDocument.Notification] = []
    /// The number of values received after the maximum was reached.
    public private(set) var droppedCount = 0

    /// Creates a recorder without subscriptions and values.
    public init() {}

    /// Records that the device has accepted a subscription.
    public mutating func subscribed(to handle: AttributeHandle, at now: Instant) { subscriptions[handle] = now }

    /// Records that the device has sent a value.
    public mutating func received(
        _ octets: [UInt8], of handle: AttributeHandle, isIndication: Bool? = nil, at now: Instant
    ) {
        guard notifications.count < Self.maximumCount else { return droppedCount += 1 }
        // A value may arrive before the response to the subscription.
        let start = subscriptions[handle] ?? now
        var notification = DeviceDocument.Notification(
            .handle(handle), after: max(.zero, start.duration(to: now)),
            octets: Array(octets.prefix(GATTAttributeValue.maximumLength)))
        notification.isIndication = isIndication
        notifications.append(notification)
    }
}
