import BluetoothDocuments
import BluetoothLE
import BluetoothCommandLine

/// Serves a document with an adapter, until the task is cancelled.
struct DeviceServer {
    let document: DeviceDocument
    let layout: DeviceDocument.Layout

    /// - Throws: a usage failure if the document has no valid layout.
    init(_ document: DeviceDocument, of path: String) throws(CommandFailure) {
        self.document = document
        do throws(DocumentError) {
            layout = try document.layout()
        } catch {
            throw CommandFailure(.usage, "\(path): \(error)")
        }
    }

    /// Configures the host of the adapter. The document is its whole database, and the host uses the document's
    /// address.
    func configure(_ host: inout HostConfiguration) {
        host.publishesOwnServices = false
        if let name = document.name { host.deviceName = name }
        guard let address = document.address else { return }
        if address.randomKind == .static {
            host.ownAddress = .staticRandom(address)
        } else {
            say("ble: \(address) is not a static random address and cannot be used; the adapter's own address is used")
        }
    }

    func run(on adapter: Adapter) async throws {
        let actions = adapter.characteristicEvents()
        let links = adapter.events()
        let services = try await adapter.publish(layout.definitions, events: actions)
        let unconditional = services.flatMap(\.characteristics).filter { characteristic in
            layout.notifications.contains { $0.handle == characteristic.handle && $0.origin == .connection }
        }
        let advertiser = try DeviceAdvertiser(document)
        let set = try await advertiser.begin(on: adapter)
        let stage = ServerStage(layout.notifications, unconditional)
        try writeLine("serving \(counted(layout.definitions.count, "service")); press Ctrl-C to stop")
        try await withThrowingTaskGroup { group in
            group.addTask { for try await event in links { try await stage.handle(event) } }
            group.addTask { for try await action in actions { try await stage.handle(action) } }
            group.addTask { try await advertiser.keep(set, on: adapter) }
            // Each task ends by throwing.
            try await group.next()
            group.cancelAll()
        }
    }
}

/// Reports the actions of peers, and sends each peer the notifications in the document.
private actor ServerStage {
    private let notifications: [ScheduledNotification]
    private let unconditional: [PublishedCharacteristic]
    private var players: [Connection: NotificationPlayer<ContinuousClock>] = [:]

    init(_ notifications: [ScheduledNotification], _ unconditional: [PublishedCharacteristic]) {
        self.notifications = notifications
        self.unconditional = unconditional
    }

    func handle(_ event: AdapterEvent) async throws {
        switch event {
        case .connected(let connection):
            try writeLine("\(connection.address): connected")
            var subscribers: [Subscriber] = []
            for characteristic in unconditional {
                subscribers += characteristic.subscribers.filter { $0.connection == connection }
            }
            await player(of: connection).connected(subscribers)
        case .disconnected(let connection, let reason):
            await players.removeValue(forKey: connection)?.stop()
            try writeLine("\(connection.address): disconnected: \(reason)")
        default: break
        }
    }

    func handle(_ action: CharacteristicEvent) async throws {
        switch action {
        case .subscribed(let subscriber), .subscriptionRestored(let subscriber):
            try tell(subscriber, subscriber.configuration)
            await player(of: subscriber.connection).subscribed(subscriber)
        case .subscriptionChanged(let subscriber, let configuration): try tell(subscriber, configuration)
        case .unsubscribed(let subscriber):
            try tell(subscriber, [])
            await players[subscriber.connection]?.unsubscribed(subscriber)
        case .written(let value, let handle, let connection):
            try writeLine("\(connection.address): \(ServeLine.written(value, to: handle))")
        case .dataLost(let connection): try writeLine("\(connection.address): writes were lost")
        // The database stores every value.
        case .readRequested(let read): try await read.refuse(.unlikelyError)
        case .writeRequested(let write): try await write.refuse(.unlikelyError)
        // The devices in documents do not require authorization.
        case .authorizationRequested(let authorization): try await authorization.refuse()
        }
    }

    private func tell(_ subscriber: Subscriber, _ configuration: GATTClientConfiguration) throws {
        let line = ServeLine.subscribed(to: subscriber.characteristic, configuration)
        try writeLine("\(subscriber.connection.address): \(line)")
    }

    /// Returns the player of a connection, and makes it if necessary: the two sequences of events are not ordered, so
    /// either may be the first to refer to a connection.
    private func player(of connection: Connection) -> NotificationPlayer<ContinuousClock> {
        if let player = players[connection] { return player }
        let player = NotificationPlayer(notifications, clock: ContinuousClock())
        players[connection] = player
        return player
    }
}
