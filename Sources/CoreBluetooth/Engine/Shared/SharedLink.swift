import BluetoothLE

/// Who uses a `SharedLink`: a peripheral of one of the managers.
@BluetoothEngine
protocol LinkUser: AnyObject {
    /// Where it tells the application. Who is behind with that is waited for.
    var delivery: Delivery { get }
    /// The peer has notified or indicated a value.
    func received(_ value: [UInt8], of handle: AttributeHandle)
    func mtuChanged(to mtu: Int)
    /// The peer has told its Device Name, for the first time or a new one.
    func nameChanged(to name: String)
    /// The peer's services in these handles are others now.
    func servicesChanged(in handles: ClosedRange<AttributeHandle>)
    /// The link has ended, whoever ended it. What was pending on it has failed, or does so next.
    func linkEnded(_ reason: BluetoothError)
}

/// A link to a peer, and the GATT client on it, for all managers of this process that are connected to that peer.
@BluetoothEngine
final class SharedLink {
    let connection: Connection
    /// ATT_MTU, in octets.
    private(set) var mtu: Int

    private let session: ClientSession
    /// Whether this process has made the link, and ends it when nobody uses it any more.
    private let isOurs: Bool
    private let whenEnded: @BluetoothEngine (SharedLink) -> Void
    private var users: [ObjectIdentifier: any LinkUser] = [:]
    private var waiting: [Int: CheckedContinuation<Result<GATTClientResult, BluetoothError>, Never>] = [:]
    private var lastTag = 0
    /// Who is subscribed to which characteristic, by the handle of its value.
    private var subscriptions: [AttributeHandle: Subscription] = [:]
    /// The changes of subscriptions, one after the other.
    private let changes = WorkQueue()
    private var ending: BluetoothError?
    /// Whether the adapter has told of its end, which may come before what the link itself tells last.
    var isGone = false
    /// Whether it is over, or about to be.
    var isEnding: Bool { ending != nil }
    private var discovery: Task<Result<[DiscoveredService], BluetoothError>, Never>?
    /// How often the peer has said that its services are others now.
    private var modifications = 0
    /// How often they are discovered anew where that has happened meanwhile.
    private static let maximumDiscoveries = 3
    /// The handle of the peer's Service Changed, where it has one.
    private var serviceChanged: AttributeHandle?
    /// The services the peer is known to have.
    private(set) var knownServices: Set<BluetoothUUID> = []

    private struct Subscription {
        /// The handle of the Client Characteristic Configuration.
        let descriptor: AttributeHandle
        var users: Set<ObjectIdentifier> = []
    }

    init(
        _ session: ClientSession, mtu: Int, isOurs: Bool, whenEnded: @escaping @BluetoothEngine (SharedLink) -> Void
    ) {
        self.session = session
        connection = session.connection
        self.mtu = mtu
        self.isOurs = isOurs
        self.whenEnded = whenEnded
        Task { await run() }
    }

    // MARK: - Users

    /// Tells `user` of what happens, from now on.
    ///
    /// - Throws: why the link has ended, where it has.
    func add(_ user: any LinkUser) throws(BluetoothError) {
        if let ending { throw ending }
        users[ObjectIdentifier(user)] = user
    }

    /// A user has enough. After the last one the link ends, unless it was the peer that made it.
    func remove(_ user: any LinkUser) async {
        let identifier = ObjectIdentifier(user)
        guard users.removeValue(forKey: identifier) != nil, ending == nil else { return }
        for handle in subscriptions.keys {
            guard subscriptions[handle]?.users.remove(identifier) != nil, !users.isEmpty else { continue }
            // For those who stay the link goes on; without what nobody wants of it.
            changes.add { [self] in try? await configureIfUnused(handle) }
        }
        await endIfUnused()
    }

    /// Ends the link where nobody uses it, unless it was the peer that made it.
    func endIfUnused() async {
        guard users.isEmpty, isOurs, ending == nil else { return }
        end(.disconnected(.byThisDevice))
        try? await connection.disconnect()
    }

    // MARK: - What happens

    private func run() async {
        do throws(BluetoothError) {
            for try await event in session.events {
                await handle(event)
                if ending != nil { return }
            }
            end(.disconnected(.unknown))
        } catch {
            let isOverflow = error == .overflow
            end(error)
            // Values were lost, which the application must not mistake for all there was.
            if isOverflow { try? await connection.disconnect() }
        }
    }

    private func handle(_ event: ClientEvent) async {
        switch event {
        case .value(let value, let handle) where handle == serviceChanged: await servicesHaveChanged(value)
        case .value(let value, let handle):
            let meant = subscriptions[handle].map { meant in users.filter { meant.users.contains($0.key) } } ?? users
            for user in meant.values {
                user.received(value, of: handle)
                await user.delivery.room()
            }
        case .ended(let tag, let result):
            guard let continuation = waiting.removeValue(forKey: tag) else { return }
            continuation.resume(returning: result)
            // The result is behind us in the engine's line: let it pass, so that it is told before what comes next.
            await Task.yield()
        case .mtuChanged(let mtu):
            self.mtu = mtu
            for user in users.values { user.mtuChanged(to: mtu) }
        }
    }

    /// Ends everything that waits for the link, which has gone or is to go.
    func end(_ reason: BluetoothError) {
        guard ending == nil else { return }
        ending = reason
        let (users, waiting) = (users, waiting)
        self.users = [:]
        self.waiting = [:]
        whenEnded(self)
        for user in users.values { user.linkEnded(reason) }
        for continuation in waiting.values { continuation.resume(returning: .failure(reason)) }
    }

    // MARK: - Operations

    /// Carries out one operation. What the peer sent before its response has been told by then, and nothing that it sent
    /// after.
    func perform(_ operation: GATTClientOperation) async throws(BluetoothError) -> GATTClientResult {
        if let ending { throw ending }
        lastTag += 1
        let tag = lastTag
        let result = await withCheckedContinuation { continuation in
            waiting[tag] = continuation
            Task { [session] in await session.begin(operation, as: tag) }
        }
        return try result.get()
    }

    /// Writes a value of any length, up to 512 octets, and waits for the response.
    func write(_ value: [UInt8], to handle: AttributeHandle) async throws(BluetoothError) {
        _ = try await perform(value.count <= mtu - 3 ? .write(handle, value) : .writeLong(handle, value))
    }

    /// Subscribes a user. The peer is asked where nobody was subscribed.
    func subscribe(
        _ user: any LinkUser, to handle: AttributeHandle, descriptor: AttributeHandle,
        _ configuration: GATTClientConfiguration
    ) async throws(BluetoothError) {
        try await inTurn { [self] () throws(BluetoothError) in
            // It may have left while others had their turn.
            guard users[ObjectIdentifier(user)] != nil else { throw ending ?? .cancelled }
            let isFirst = subscriptions[handle]?.users.isEmpty ?? true
            // Before the peer is asked, so that no early value is lost.
            subscriptions[handle, default: Subscription(descriptor: descriptor)].users.insert(ObjectIdentifier(user))
            guard isFirst else { return }
            do throws(BluetoothError) {
                _ = try await perform(.configure(descriptor: descriptor, configuration))
            } catch {
                subscriptions[handle]?.users.remove(ObjectIdentifier(user))
                throw error
            }
        }
    }

    /// Ends a user's subscription; for the peer, where it was the last.
    func unsubscribe(_ user: any LinkUser, from handle: AttributeHandle) async throws(BluetoothError) {
        try await inTurn { [self] () throws(BluetoothError) in
            guard let users = subscriptions[handle]?.users else { return }
            // Values go on until the peer has agreed.
            if users.subtracting([ObjectIdentifier(user)]).isEmpty { try await configure(handle) }
            subscriptions[handle]?.users.remove(ObjectIdentifier(user))
        }
    }

    private func configureIfUnused(_ handle: AttributeHandle) async throws(BluetoothError) {
        if subscriptions[handle]?.users.isEmpty == true { try await configure(handle) }
    }

    /// Has the peer tell a value no more.
    private func configure(_ handle: AttributeHandle) async throws(BluetoothError) {
        guard let descriptor = subscriptions[handle]?.descriptor else { return }
        _ = try await perform(.configure(descriptor: descriptor, []))
    }

    /// Changes a subscription when the changes before have ended: whether the peer has to be asked depends on them.
    private func inTurn(_ change: @escaping @BluetoothEngine () async throws(BluetoothError) -> Void)
        async throws(BluetoothError)
    {
        let result = await withCheckedContinuation { continuation in
            changes.add {
                do throws(BluetoothError) {
                    continuation.resume(returning: Result<Void, BluetoothError>.success(try await change()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        try result.get()
    }

    // MARK: - The peer's services

    /// The peer's primary services, which are discovered once, and again after they have changed.
    func services() async throws(BluetoothError) -> [DiscoveredService] {
        var services: [DiscoveredService] = []
        for _ in 0..<Self.maximumDiscoveries {
            let before = modifications
            let discovery = discovery ?? Task { await discoverServices() }
            self.discovery = discovery
            services = try await discovery.value.get()
            if modifications == before { break }
        }
        return services
    }

    private func discoverServices() async -> Result<[DiscoveredService], BluetoothError> {
        do throws(BluetoothError) {
            guard case .services(let services) = try await perform(.discoverPrimaryServices()) else {
                return .success([])
            }
            knownServices = Set(services.map(\.uuid))
            return .success(services)
        } catch {
            discovery = nil
            return .failure(error)
        }
    }

    func watchServiceChanged(at handle: AttributeHandle) { serviceChanged = handle }

    func nameChanged(to name: String) {
        for user in users.values { user.nameChanged(to: name) }
    }

    /// Takes in the value of Service Changed: the first and the last handle concerned.
    private func servicesHaveChanged(_ value: [UInt8]) async {
        discovery = nil
        modifications &+= 1
        guard value.count == 4 else { return }
        let first = AttributeHandle(UInt16(value[0]) | UInt16(value[1]) << 8)
        let last = AttributeHandle(UInt16(value[2]) | UInt16(value[3]) << 8)
        let handles = min(first, last)...max(first, last)
        subscriptions = subscriptions.filter { !handles.contains($0.key) }
        for user in users.values {
            user.servicesChanged(in: handles)
            await user.delivery.room()
        }
    }
}
