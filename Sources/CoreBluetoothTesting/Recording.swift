import BluetoothBase
import BluetoothDocuments
import BluetoothGATT
import BluetoothLE
import CoreBluetooth
import Foundation
import Synchronization

/// A recorded device: its database, and the values that it sends.
final class Recording: Sendable {
    /// The database.
    let database: DeviceDocument.Layout
    private let notifications: [ScheduledNotification]
    private let schedules = Mutex<[Connection: NotificationSchedule]>([:])
    /// One for each connection, so that the values arrive in their order.
    private let senders = Mutex<[Connection: AsyncStream<ScheduledNotification>.Continuation]>([:])

    init(_ document: DeviceDocument) throws {
        database = try document.layout()
        notifications = database.notifications
    }

    func connected(_ connection: Connection, to peripheral: VirtualPeripheral) {
        startSending(to: connection, peripheral)
        change(connection, peripheral) { $0.connected(at: $1) }
    }

    func subscribed(_ subscriber: Subscriber, to peripheral: VirtualPeripheral) {
        startSending(to: subscriber.connection, peripheral)
        change(subscriber.connection, peripheral) { $0.subscribed(to: subscriber.characteristic, at: $1) }
    }

    func unsubscribed(_ subscriber: Subscriber) {
        schedules.withLock { $0[subscriber.connection]?.unsubscribed(from: subscriber.characteristic) }
    }

    func disconnected(_ connection: Connection) {
        schedules.withLock { _ = $0.removeValue(forKey: connection) }
        senders.withLock { $0.removeValue(forKey: connection) }?.finish()
    }

    /// Starts the task that sends the values, unless it exists. A subscription may be reported before its connection.
    private func startSending(to connection: Connection, _ peripheral: VirtualPeripheral) {
        let (values, continuation) = AsyncStream<ScheduledNotification>.makeStream()
        let isNew = senders.withLock { senders in
            guard senders[connection] == nil else { return false }
            senders[connection] = continuation
            return true
        }
        guard isNew else { return }
        peripheral.run { [weak peripheral] in
            for await value in values { await peripheral?.send(value, to: connection) }
        }
    }

    private func change(
        _ connection: Connection, _ peripheral: VirtualPeripheral, _ body: (inout NotificationSchedule, Instant) -> Void
    ) {
        let now = peripheral.present.place.surroundings.now
        schedules.withLock { schedules in
            var schedule = schedules[connection] ?? NotificationSchedule(notifications)
            body(&schedule, now)
            schedules[connection] = schedule
        }
        play(to: connection, peripheral)
    }

    /// Sends what is due, and continues when more is.
    private func play(to connection: Connection, _ peripheral: VirtualPeripheral) {
        let surroundings = peripheral.present.place.surroundings
        let (due, deadline) = schedules.withLock { schedules in
            var due: [ScheduledNotification] = []
            while let next = schedules[connection]?.take(at: surroundings.now) { due.append(next) }
            return (due, schedules[connection]?.nextDeadline)
        }
        let sender = senders.withLock { $0[connection] }
        for notification in due { sender?.yield(notification) }
        guard let deadline else { return }
        surroundings.schedule(at: deadline) { [weak self, weak peripheral] in
            guard let self, let peripheral else { return }
            // Only if nothing restarted the schedule in the meantime.
            guard schedules.withLock({ $0[connection]?.nextDeadline }) == deadline else { return }
            play(to: connection, peripheral)
        }
    }
}

extension VirtualPeripheral {
    /// Creates a peripheral from a recording of a real device, as `ble record` writes it: the same services with the
    /// same handles and values, what it advertises, and the values that it sends after a subscription, at their times.
    ///
    /// - Parameters:
    ///   - recording: the document, in JSON: see `Documentation/Documents.md`.
    ///   - proximity: its initial distance.
    /// - Throws: an error that names the member of the document that is wrong.
    public convenience init(
        recording: Data, proximity: TestRadio.Proximity = .near, pairing: VirtualPairing = .justWorks
    ) throws {
        let document = try DeviceDocument(json: [UInt8](recording))
        let advertisement = try VirtualAdvertisement(document)
        let address = document.address.flatMap { $0.randomKind == .static ? Address.random($0.value) : nil }
        self.init(
            Settings(name: document.name, services: [], advertisements: [advertisement], connectionInterval: nil),
            proximity, address ?? .public, mtu: 517, pairing, nil, try Recording(document))
    }

    fileprivate func send(_ notification: ScheduledNotification, to connection: Connection) async {
        let subscriber = settings.withLock { $0.published }.flatMap(\.characteristics)
            .filter { $0.handle == notification.handle }.flatMap(\.subscribers)
            .first { $0.connection == connection }
        guard let subscriber else { return }
        let isIndication = notification.isIndication ?? !subscriber.configuration.contains(.notifications)
        // If the central has disconnected or unsubscribed meanwhile, the value is skipped, as on the air.
        if isIndication {
            try? await subscriber.indicate(notification.octets)
        } else {
            try? await subscriber.notify(notification.octets)
        }
    }
}

extension VirtualAdvertisement {
    /// What a recorded device advertises: by default, its name and its services.
    fileprivate init(_ document: DeviceDocument) throws {
        self.init(isConnectable: document.isConnectable)
        switch document.advertisement {
        case .octets(let octets):
            self.octets = (octets, try document.scanResponse?.octets(at: "scanResponse") ?? [])
        case .fields(let fields):
            data = fields
            if let response = document.scanResponse {
                octets = (
                    try document.advertisement?.octets(at: "advertisement") ?? [],
                    try response.octets(at: "scanResponse")
                )
            }
        case nil:
            data.localName = document.name.map { .complete($0) }
            data.serviceUUIDs = document.services
                .filter { $0.isPrimary && $0.uuid != .genericAccess && $0.uuid != .genericAttribute }.map(\.uuid)
        }
    }
}
