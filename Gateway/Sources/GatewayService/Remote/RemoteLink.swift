import BluetoothLE
import GatewayESPHome
import GatewayPipeline
import Synchronization

/// A device that clients may connect to. Requests are performed one after the other.
final class RemoteLink: Sendable {
    /// The dependencies of the link.
    struct Surroundings: Sendable {
        /// Selects an adapter to connect with, and returns it with its name; nil if none is available.
        var adapter: @Sendable (DeviceAddress) -> (Adapter, String)?
        /// The places for connections.
        var table: ConnectionTable
        /// Removes the bonds with a device.
        var unpair: @Sendable (DeviceAddress) async throws(BluetoothError) -> Void
        /// Publishes a value from the device, or the end of the connection.
        var tell: @Sendable (_ path: String, _ json: String) -> Void
    }

    private struct State {
        var owner: String?
        var connection: Connection?
        var lastRequest = ContinuousClock.now
        var subscriptions: [RemoteRequest.Place: Subscription] = [:]
        /// The number of subscriptions so far.
        var subscriptionCount: UInt64 = 0
    }

    private struct Subscription {
        /// Not reused, so that a subscription that ends does not remove the next one for the same characteristic.
        var number: UInt64
        var task: Task<Void, Never>
    }

    private let device: DeviceAddress
    private let surroundings: Surroundings
    private let state = Mutex(State())

    /// The maximum number of simultaneous subscriptions.
    private static let subscriptionLimit = 32

    init(_ device: DeviceAddress, _ surroundings: Surroundings) {
        self.device = device
        self.surroundings = surroundings
    }

    /// Whether there is a connection whose owner has sent no request since the given time.
    func isIdle(since instant: ContinuousClock.Instant) -> Bool {
        state.withLock { $0.connection != nil && $0.lastRequest < instant }
    }

    /// Performs a request before its deadline. Calls must not overlap.
    func perform(_ request: RemoteRequest, deadline: ContinuousClock.Instant) async -> RemoteAnswer {
        do throws(RemoteRefusal) {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { throw RemoteRefusal(.timedOut, "the timeout expired before its turn came") }
            let connection = try check(request)
            do throws(BluetoothError) {
                return try await withTimeout(left) { [self] () throws(BluetoothError) in
                    try await perform(request, connection, left)
                }
            } catch {
                throw RemoteRefusal(error)
            }
        } catch {
            return .refused(error)
        }
    }

    /// Checks whether the owner may make the request now. Returns the connection if there is one.
    private func check(_ request: RemoteRequest) throws(RemoteRefusal) -> Connection? {
        let (connection, owner) = state.withLock { ($0.connection, $0.owner) }
        if connection != nil, let owner, owner != request.owner {
            throw RemoteRefusal(.owned, "the connection belongs to another owner")
        }
        // A bond exists with or without a connection.
        if connection == nil, request.action == .unpair { return nil }
        if connection == nil, request.action != .connect {
            throw RemoteRefusal(.notConnected, "not connected; send a connect request first")
        }
        state.withLock { $0.lastRequest = .now }
        if connection == nil {
            do throws(ConnectionTable.Refusal) {
                try surroundings.table.take(device)
            } catch {
                throw error == .owned
                    ? RemoteRefusal(.owned, "the connection belongs to a client of ESPHome's API")
                    : RemoteRefusal(.busy, "the maximum of remote.connections is reached")
            }
        }
        return connection
    }

    private func perform(
        _ request: RemoteRequest, _ connection: Connection?, _ left: Duration
    ) async throws(BluetoothError) -> RemoteAnswer {
        guard let connection else {
            guard request.action == .unpair else { return try await connect(request.owner, left) }
            try await surroundings.unpair(device)
            return .done
        }
        switch request.action {
        case .unpair:
            try await surroundings.unpair(device)
            return .done
        case .pair:
            try await connection.pair()
            return .done
        case .connect: return .connected(mtu: try connection.presentMTU(), adapter: "")
        case .disconnect:
            await end()
            return .done
        case .discover:
            var services: [RemoteAnswer.Service] = []
            for service in try await connection.discoverServices() {
                let characteristics = try await connection.discoverCharacteristics(of: service)
                services.append(
                    RemoteAnswer.Service(
                        uuid: service.uuid, characteristics: characteristics.map { ($0.uuid, $0.properties.names) }))
            }
            return .services(services)
        case .read(let place): return .value(try await connection.read(try await find(place, connection)))
        case .write(let place, let value, let awaitsResponse):
            let characteristic = try await find(place, connection)
            if awaitsResponse {
                try await connection.write(value, to: characteristic)
            } else {
                try await connection.writeWithoutResponse(value, to: characteristic)
            }
            return .done
        case .subscribe(let place):
            return try await subscribe(place, connection)
        case .unsubscribe(let place):
            state.withLock { $0.subscriptions.removeValue(forKey: place) }?.task.cancel()
            try await connection.unsubscribe(from: try await find(place, connection))
            return .done
        }
    }

    private func find(
        _ place: RemoteRequest.Place, _ connection: Connection
    ) async throws(BluetoothError) -> DiscoveredCharacteristic {
        try await connection.characteristic(place.characteristic, in: place.service)
    }

    private func connect(_ owner: String, _ left: Duration) async throws(BluetoothError) -> RemoteAnswer {
        do throws(BluetoothError) {
            guard let (adapter, name) = surroundings.adapter(device) else { throw .notReady }
            let connection = try await adapter.connect(to: device, timeout: left)
            let mtu = try connection.presentMTU()
            state.withLock { state in
                state.owner = owner
                state.connection = connection
            }
            Task { await watch(connection) }
            return .connected(mtu: mtu, adapter: name)
        } catch {
            surroundings.table.giveBack(device)
            throw error
        }
    }

    /// Waits for the end of a connection, and reports it.
    private func watch(_ connection: Connection) async {
        let reason = try? await connection.waitForDisconnection()
        let subscriptions = state.withLock { state in
            defer { state.subscriptions.removeAll() }
            state.connection = nil
            state.owner = nil
            return state.subscriptions
        }
        for subscription in subscriptions.values { subscription.task.cancel() }
        surroundings.table.giveBack(device)
        let object = JSONObject {
            $0.add("event", "disconnected")
            $0.add("reason", reason.map { "\($0)" } ?? "the adapter was lost")
        }
        surroundings.tell(device.digits, object.text)
    }

    private func subscribe(
        _ place: RemoteRequest.Place, _ connection: Connection
    ) async throws(BluetoothError) -> RemoteAnswer {
        let (isSubscribed, count) = state.withLock { ($0.subscriptions[place] != nil, $0.subscriptions.count) }
        if isSubscribed { return .done }
        guard count < Self.subscriptionLimit else {
            return .refused(
                RemoteRefusal(
                    .busy, "a connection has at most \(Self.subscriptionLimit) subscriptions; unsubscribe from another")
            )
        }
        let values = try await connection.notifications(of: try await find(place, connection))
        let isConnected = state.withLock { state in
            // If the connection has ended meanwhile, the next one would seem to have the subscription.
            guard state.connection == connection else { return false }
            state.subscriptionCount += 1
            let number = state.subscriptionCount
            let task = Task {
                await forward(values, from: place)
                ended(place, number)
            }
            state.subscriptions[place] = Subscription(number: number, task: task)
            return true
        }
        guard isConnected else { throw .disconnected(.unknown) }
        return .done
    }

    /// Publishes values until the subscription ends.
    private func forward(_ values: EventSequence<[UInt8]>, from place: RemoteRequest.Place) async {
        let path = "\(device.digits)/\(place.characteristic)"
        do throws(BluetoothError) {
            for try await value in values {
                let object = JSONObject { $0.add("value", value.hexadecimal(separator: "")) }
                surroundings.tell(path, object.text)
            }
        } catch {
            // The end of the connection is reported separately.
        }
    }

    /// Records that a subscription has ended, for example because the device's services have changed. A client may then
    /// subscribe again.
    private func ended(_ place: RemoteRequest.Place, _ number: UInt64) {
        state.withLock { state in
            if state.subscriptions[place]?.number == number { state.subscriptions[place] = nil }
        }
    }

    /// Ends the connection.
    func end() async {
        let connection = state.withLock { $0.connection }
        try? await connection?.disconnect()
    }
}
