import BluetoothDocuments
import BluetoothLE

/// Sends the values in a schedule to one peer, at the scheduled times.
actor NotificationPlayer<Timer: Clock> where Timer.Duration == Duration {
    private var schedule: NotificationSchedule
    private var subscribers: [AttributeHandle: Subscriber] = [:]
    private let clock: Timer
    private let origin: Timer.Instant
    private var alarm: Task<Void, Never>?
    private var isSending = false
    /// The pending indications, each of which waits for the confirmation of the one before.
    private var indications: Task<Void, Never>?

    init(_ notifications: [ScheduledNotification], clock: Timer) {
        schedule = NotificationSchedule(notifications)
        self.clock = clock
        origin = clock.now
    }

    private var now: Instant { Instant.zero.advanced(by: origin.duration(to: clock.now)) }

    /// - Parameter subscribers: those that receive values without a subscription.
    func connected(_ subscribers: [Subscriber]) async {
        for subscriber in subscribers { self.subscribers[subscriber.characteristic] = subscriber }
        schedule.connected(at: now)
        await play()
    }

    func subscribed(_ subscriber: Subscriber) async {
        subscribers[subscriber.characteristic] = subscriber
        schedule.subscribed(to: subscriber.characteristic, at: now)
        await play()
    }

    func unsubscribed(_ subscriber: Subscriber) async {
        subscribers[subscriber.characteristic] = nil
        schedule.unsubscribed(from: subscriber.characteristic)
        await play()
    }

    /// Stops when the peer has disconnected.
    func stop() {
        alarm?.cancel()
        indications?.cancel()
        subscribers = [:]
        schedule = NotificationSchedule([])
    }

    /// Sends the values that are due, and sets the alarm for the next one.
    private func play() async {
        // If another call is sending, it also sends what has become due in the meantime.
        guard !isSending else { return }
        isSending = true
        while let item = schedule.take(at: now) { await send(item) }
        isSending = false
        alarm?.cancel()
        alarm = nil
        guard let deadline = schedule.nextDeadline else { return }
        let instant = origin.advanced(by: Instant.zero.duration(to: deadline))
        alarm = Task { [weak self, clock] in
            guard (try? await clock.sleep(until: instant, tolerance: nil)) != nil else { return }
            await self?.play()
        }
    }

    private func send(_ item: ScheduledNotification) async {
        guard let subscriber = subscribers[item.handle] else { return }
        let isIndication = item.isIndication ?? !subscriber.configuration.contains(.notifications)
        // If the peer has disconnected or subscribed to the other kind, sending fails, and the value is skipped.
        guard isIndication else { return (try? await subscriber.notify(item.octets)) ?? () }
        let former = indications
        indications = Task {
            await former?.value
            if !Task.isCancelled { try? await subscriber.indicate(item.octets) }
        }
    }
}
