import BluetoothDocuments
import BluetoothLE
import BluetoothCommandLine

/// Serves a document with an adapter, until the task is cancelled.
struct DeviceServer {
    let document: DeviceDocument
    let layout: DeviceDocument.Layout

    /// - Throws: a usage failure where the document cannot be laid out.
    init(_ document: DeviceDocument, of path: String) throws(CommandFailure) {
        self.document = document
        do throws(DocumentError) {
            layout = try document.layout()
        } catch {
            throw CommandFailure(.usage, "\(path): \(error)")
        }
    }

    /// What the host of the adapter has to be like: the document is its whole database, and has its address.
    func configure(_ host: inout HostConfiguration) {
        host.publishesOwnServices = false
        if let name = document.name { host.deviceName = name }
        guard let address = document.address else { return }
        if address.randomKind == .static {
            host.ownAddress = .staticRandom(address)
        } else {
            say("ble: \(address) is no static random address, and stays with its device; this adapter's is used")
        }
    }

    func run(on adapter: Adapter) async throws {
        let actions = adapter.characteristicEvents()
        let links = await adapter.events()
        let services = try await adapter.publish(layout.definitions, events: actions)
        let unconditional = services.flatMap(\.characteristics).filter { characteristic in
            layout.notifications.contains { $0.handle == characteristic.handle && $0.origin == .connection }
        }
        let advertiser = try DeviceAdvertiser(document)
        let set = try await advertiser.begin(on: adapter)
        let stage = ServerStage(layout.notifications, unconditional)
        try writeLine("serving \(counted(layout.definitions.count, "service")); Ctrl-C ends it")
        try await withThrowingTaskGroup { group in
            group.addTask { for try await event in links { try await stage.handle(event) } }
            group.addTask { for try await action in actions { try await stage.handle(action) } }
            group.addTask { try await advertiser.keep(set, on: adapter) }
            // Each ends by throwing.
            try await group.next()
            group.cancelAll()
        }
    }
}

/// Says what peers do, and plays each of them what the document notifies.
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
            try writeLine("\(connection.peer): connected")
            var subscribers: [Subscriber] = []
            for characteristic in unconditional {
                subscribers += await characteristic.subscribers.filter { $0.connection == connection }
            }
            await player(of: connection).connected(subscribers)
        case .disconnected(let connection, let reason):
            await players.removeValue(forKey: connection)?.stop()
            try writeLine("\(connection.peer): disconnected: \(reason)")
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
            try writeLine("\(connection.peer): \(ServeLine.written(value, to: handle))")
        case .dataLost(let connection): try writeLine("\(connection.peer): writes that were lost on the way")
        // The database keeps every value.
        case .readRequested(let read): try await read.refuse(.unlikelyError)
        case .writeRequested(let write): try await write.refuse(.unlikelyError)
        // No device that is described asks for consent.
        case .authorizationRequested(let authorization): try await authorization.refuse()
        }
    }

    private func tell(_ subscriber: Subscriber, _ configuration: GATTClientConfiguration) throws {
        let line = ServeLine.subscribed(to: subscriber.characteristic, configuration)
        try writeLine("\(subscriber.connection.peer): \(line)")
    }

    /// The two sequences of events have no order between them: whichever speaks of a connection first makes its player.
    private func player(of connection: Connection) -> NotificationPlayer<ContinuousClock> {
        if let player = players[connection] { return player }
        let player = NotificationPlayer(notifications, clock: ContinuousClock())
        players[connection] = player
        return player
    }
}
