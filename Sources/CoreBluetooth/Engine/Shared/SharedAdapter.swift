import BluetoothLE
import Foundation
import HCITransport
import Logging

/// Who uses a `SharedAdapter`: a manager.
@BluetoothEngine
protocol AdapterUser: AnyObject {
    /// The adapter's state is another one now. Below `.poweredOn` every link is gone already.
    func adapterChanged(to state: CBManagerState)
    /// A link is there, or gone, whoever made it.
    ///
    /// - Parameter services: those the peer is known to have.
    func linkChanged(to peer: DeviceAddress, services: Set<BluetoothUUID>, isConnected: Bool)
}

/// The adapter that all managers with one transport share: opened for the first, closed after the last, and got back by
/// itself when it is away.
@BluetoothEngine
final class SharedAdapter {
    private struct WeakAdapter {
        weak var adapter: SharedAdapter?
    }

    private struct WeakUser {
        weak var user: (any AdapterUser)?
    }

    private static var all: [BluetoothTransport: WeakAdapter] = [:]
    /// What is being given back. Who wants it again waits for that, since a controller has one owner.
    private static var closing: [BluetoothTransport: Task<Void, Never>] = [:]

    /// The adapter at a transport.
    static func at(_ transport: BluetoothTransport) -> SharedAdapter {
        if let adapter = all[transport]?.adapter { return adapter }
        let adapter = SharedAdapter(transport)
        all = all.filter { $0.value.adapter != nil }
        all[transport] = WeakAdapter(adapter: adapter)
        return adapter
    }

    /// What applications are told; `.unknown` until the first try to open the adapter has ended.
    private(set) var state = CBManagerState.unknown
    /// The adapter while `state` is `.poweredOn`.
    var adapter: Adapter? { state == .poweredOn ? opened : nil }

    private let transport: BluetoothTransport
    private(set) var opened: Adapter?
    /// What the managers want advertised, in the order in which they began.
    var advertisements: [(user: ObjectIdentifier, wanted: WantedAdvertisement)] = []
    let advertising = WorkQueue()
    private var users: [ObjectIdentifier: WeakUser] = [:]
    private var links: [DeviceAddress: SharedLink] = [:]
    private var attempts: [DeviceAddress: Attempt] = [:]
    private var life: Task<Void, Never>?
    private var lastFailure: String?
    /// Whether somebody has switched the adapter off.
    private var isOff = false
    private let tables: SharedTables

    private init(_ transport: BluetoothTransport) {
        self.transport = transport
        tables = .of(transport)
    }

    deinit {
        life?.cancel()
    }

    // MARK: - Users

    /// Tells `user` of changes from now on; of the state there is now it is told at once, unless that is `.unknown`.
    func add(_ user: any AdapterUser) {
        users[ObjectIdentifier(user)] = WeakUser(user: user)
        if life == nil, !isOff { start() }
        if state != .unknown { user.adapterChanged(to: state) }
    }

    /// With the last user the adapter is given back.
    func remove(_ user: any AdapterUser) {
        users[ObjectIdentifier(user)] = nil
        if users.isEmpty, !isOff { close(.unknown) }
    }

    /// Gives the adapter back.
    private func close(_ state: CBManagerState) {
        life?.cancel()
        life = nil
        let adapter = opened
        opened = nil
        change(to: state)
        guard let adapter else { return }
        let (transport, before) = (transport, Self.closing[transport])
        let task = Task {
            await before?.value
            await adapter.close()
        }
        Self.closing[transport] = task
        Task {
            await task.value
            if Self.closing[transport] == task { Self.closing[transport] = nil }
        }
    }

    private func change(to state: CBManagerState) {
        guard state != self.state else { return }
        self.state = state
        if state != .poweredOn {
            endLinks()
            endAdvertising()
        }
        for user in users.values { user.user?.adapterChanged(to: state) }
    }

    private func tell(of peer: DeviceAddress, isConnected: Bool) {
        let services = tables.linkedPeers.all[peer] ?? []
        for user in users.values { user.user?.linkChanged(to: peer, services: services, isConnected: isConnected) }
    }

    // MARK: - Opening

    private func start() {
        life = Task { [weak self, transport] in
            var delay = Duration.seconds(1)
            while !Task.isCancelled {
                do {
                    await Self.closing[transport]?.value
                    let adapter = try await Self.open(transport)
                    guard let events = await self?.attach(consume adapter) else { return }
                    delay = .seconds(1)
                    for try await event in events {
                        // What had been told before the adapter was given up.
                        if Task.isCancelled { return }
                        self?.handle(event)
                    }
                } catch {
                    guard !Task.isCancelled else { return }
                    self?.failed(error)
                }
                // Nothing tells of an adapter that has never been there.
                try? await Task.sleep(for: delay)
                delay = min(delay * 2, .seconds(5))
            }
        }
    }

    private static func open(_ transport: BluetoothTransport) async throws -> Adapter {
        var options = Adapter.Options()
        options.host.deviceName = ProcessInfo.processInfo.hostName
        return switch transport.way {
        case .port(let port): try await Adapter.open(port, options: options)
        case .named(let name): try await Adapter.open(TransportName(name), options: options)
        }
    }

    /// Takes an adapter over that was opened; nil where it is not wanted any more.
    private func attach(_ adapter: Adapter) async -> EventSequence<AdapterEvent>? {
        let events = await adapter.events()
        guard !Task.isCancelled else {
            await adapter.close()
            return nil
        }
        opened = adapter
        lastFailure = nil
        change(to: .poweredOn)
        return events
    }

    private func handle(_ event: AdapterEvent) {
        switch event {
        case .connected(let connection):
            tables.linkedPeers.add(connection.peer)
            // Of those that we make it is told once their services are known.
            if connection.role == .peripheral { tell(of: connection.peer, isConnected: true) }
        case .disconnected(let connection, _):
            if let link = links[connection.peer], link.connection == connection { link.isGone = true }
            tell(of: connection.peer, isConnected: false)
            tables.linkedPeers.set(nil, of: connection.peer)
        case .resetting, .removed: change(to: .resetting)
        case .ready: change(to: .poweredOn)
        }
    }

    private func failed(_ error: any Error) {
        opened = nil
        // The same failure is told once, however often the adapter is tried.
        let line = "no Bluetooth: \(error)"
        if line != lastFailure { reportFailure(line) }
        lastFailure = line
        // What is no failure of the stack is a transport that has no such name.
        change(to: (error as? BluetoothError).map { CBManagerState(whereOpeningFailed: $0) } ?? .unsupported)
    }

    // MARK: - Power, as a test switches it

    /// Switches the adapter off, so that it is closed and its links are gone; or on again.
    func setPower(_ isOn: Bool, stateWhileOff: CBManagerState = .poweredOff) {
        guard isOn == isOff else { return }
        isOff = !isOn
        if isOn { start() } else { close(stateWhileOff) }
    }

    // MARK: - Links

    /// The link to a peer, where some manager of this process, or the peer, has made one.
    func existingLink(to peer: DeviceAddress) -> SharedLink? { links[peer] }

    /// Those to which there is a link, in either role.
    func connectedPeers() async -> [Connection] { await adapter?.connections ?? [] }

    /// The link to a peer: that which there is, or a new one, for however long it takes. Several managers that want the
    /// same wait for one attempt.
    func link(to peer: DeviceAddress) async throws(BluetoothError) -> SharedLink {
        if let link = links[peer] { return link }
        guard let adapter else { throw .adapterRemoved }
        let attempt =
            attempts[peer].flatMap { $0.isAbandoned ? nil : $0 } ?? Attempt(self, adapter, peer, after: attempts[peer])
        attempts[peer] = attempt
        return try await attempt.outcome()
    }

    fileprivate func ended(_ attempt: Attempt, to peer: DeviceAddress) {
        if attempts[peer] === attempt { attempts[peer] = nil }
    }

    fileprivate func connect(
        _ adapter: Adapter, _ peer: DeviceAddress
    ) async throws(BluetoothError) -> (Connection, isOurs: Bool) {
        while let connection = await adapter.connections.first(where: { $0.peer == peer }) {
            // One that we have made and do not use any more is about to end.
            guard connection.role == .central else { return (connection, false) }
            try await connection.waitForDisconnection()
        }
        do throws(BluetoothError) {
            return (try await adapter.connect(to: peer, timeout: nil), true)
        } catch {
            // The peer has been quicker.
            guard error == .host(.alreadyConnected),
                let connection = await adapter.connections.first(where: { $0.peer == peer })
            else { throw error }
            return (connection, false)
        }
    }

    fileprivate func connected(_ connection: Connection, isOurs: Bool) async throws(BluetoothError) -> SharedLink {
        let session = try await connection.openSession()
        let link = SharedLink(session, mtu: try await connection.mtu, isOurs: isOurs) { [weak self] link in
            guard let self else { return }
            if links[connection.peer] === link { links[connection.peer] = nil }
        }
        links[connection.peer] = link
        Task { [weak self, tables] in
            await link.prepare { name in tables.names.set(name, of: connection.peer) }
            guard let self, isOurs, !link.isGone, links[connection.peer] === link else { return }
            tables.linkedPeers.set(link.knownServices, of: connection.peer)
            tell(of: connection.peer, isConnected: true)
        }
        return link
    }

    private func endLinks() {
        let ended = links.values
        links = [:]
        tables.linkedPeers.removeAll()
        for link in ended { link.end(.adapterRemoved) }
    }
}

/// One attempt to connect, for all who wait for it. It is called off when the last of them gives up.
@BluetoothEngine
private final class Attempt {
    private var task: Task<Result<SharedLink, BluetoothError>, Never>?
    private var interested = 0
    /// Whether it is being called off, so that nobody may join it any more.
    private(set) var isAbandoned = false

    /// - Parameter before: one to the same peer that is being called off, and has to be over first.
    init(_ shared: SharedAdapter, _ adapter: Adapter, _ peer: DeviceAddress, after before: Attempt?) {
        let before = before?.task
        task = Task { [self] in
            defer { shared.ended(self, to: peer) }
            do throws(BluetoothError) {
                // It may have made the link in its last moment.
                if case .success(let link)? = await before?.value, !link.isEnding { return .success(link) }
                if Task.isCancelled { throw .cancelled }
                let (connection, isOurs) = try await shared.connect(adapter, peer)
                return .success(try await shared.connected(connection, isOurs: isOurs))
            } catch {
                return .failure(error)
            }
        }
    }

    func outcome() async throws(BluetoothError) -> SharedLink {
        guard let task else { throw .cancelled }
        interested += 1
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            BluetoothEngine.run { [self] in abandon() }
        }
        return try result.get()
    }

    private func abandon() {
        interested -= 1
        guard interested == 0 else { return }
        isAbandoned = true
        task?.cancel()
    }
}

extension CBManagerState {
    /// What an adapter is that cannot be opened.
    init(whereOpeningFailed error: BluetoothError) {
        guard case .transport(let failure) = error else {
            if case .adapter(.lowEnergyNotSupported) = error { self = .unsupported } else { self = .resetting }
            return
        }
        switch failure.reason {
        case .notPermitted: self = .unauthorized
        case .adapterBlocked: self = .poweredOff
        case .adapterHeld, .adapterBroughtUp, .adapterInitializing, .adapterRemoved, .closedByPeer: self = .resetting
        default: self = .unsupported
        }
    }
}
