import BluetoothDocuments
import BluetoothLE

/// Sends one peer what a schedule says, when it says so.
actor NotificationPlayer<Timer: Clock> where Timer.Duration == Duration {
    private var schedule: NotificationSchedule
    private var subscribers: [AttributeHandle: Subscriber] = [:]
    private let clock: Timer
    private let origin: Timer.Instant
    private var alarm: Task<Void, Never>?
    private var isSending = false
    /// The indications before the next one, each of which waits for its confirmation.
    private var indications: Task<Void, Never>?

    init(_ notifications: [ScheduledNotification], clock: Timer) {
        schedule = NotificationSchedule(notifications)
        self.clock = clock
        origin = clock.now
    }

    private var now: Instant { Instant.zero.advanced(by: origin.duration(to: clock.now)) }

    /// - Parameter subscribers: those that need not subscribe.
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

    /// The peer is gone.
    func stop() {
        alarm?.cancel()
        indications?.cancel()
        subscribers = [:]
        schedule = NotificationSchedule([])
    }

    /// Sends what is due, and sets the alarm for what is next.
    private func play() async {
        // Whoever is sending goes on with what has become due meanwhile.
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
        // Whoever has left, or wants the other kind, is sent nothing.
        guard isIndication else { return (try? await subscriber.notify(item.octets)) ?? () }
        let former = indications
        indications = Task {
            await former?.value
            if !Task.isCancelled { try? await subscriber.indicate(item.octets) }
        }
    }
}
