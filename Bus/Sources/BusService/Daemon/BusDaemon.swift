import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import BluetoothUsers
import BusObjects
import DBus

/// `org.bluez` for one adapter.
///
/// Everything here belongs to the thread that calls `run`. The adapter has its own thread; `EventInbox` carries its
/// events here, and calls to it do not block. Each client of the bus is a separate user of the adapter, so releasing
/// that user releases everything that the client requested. The daemon itself is one more user, which follows the links
/// and discovers their services for all clients.
package final class BusDaemon {
    let settings: DaemonSettings
    let runner: AdapterRunner
    let inbox: EventInbox
    let bus: BusConnection
    let tree: ObjectTree
    let loop: EventLoop
    let timers = Timers()
    /// The daemon's own user.
    let house: SeamUser
    private(set) var clients: [String: Client] = [:]
    /// Finds the client of a user.
    private var clientNames: [UserID: String] = [:]
    private(set) lazy var adapter = AdapterObject(self)
    private(set) lazy var devices = DeviceTable(self)
    private(set) lazy var agents = AgentRegistry(self)
    private var departures: BusConnection.Match?
    private var state = State.running

    private enum State: Equatable {
        case running
        case stopping(BusFailure?)
    }

    /// The maximum number of clients that have requested something. Reading properties does not count.
    static let clientLimit = 256
    /// The messages to process before other work gets its turn.
    private static let messagesPerTurn = 128

    /// Connects to the bus, takes the name `org.bluez`, and attaches to the adapter.
    package init(_ settings: DaemonSettings, _ runner: AdapterRunner) throws(BusFailure) {
        self.settings = settings
        self.runner = runner
        inbox = try EventInbox(runner)
        bus = try BusConnection(to: settings.bus)
        loop = try EventLoop()
        tree = try ObjectTree(bus)
        house = SeamUser(runner, inbox)
        let report = settings.report
        tree.report = { report("a message was not sent: \($0)") }
        try start()
    }

    private func start() throws(BusFailure) {
        // A client's name with no new owner: the client is gone.
        departures = try bus.match(
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg2=''"
        ) { [unowned self] message in
            guard let values = try? message.readAll(), let name = values.first?.text else { return }
            removeClient(name)
        }
        tree.export(agents, as: AgentRegistry.interface, at: Paths.bluez)
        try bus.requestName("org.bluez")
        try loop.watch(bus.descriptor, for: .readable) { _ in }
        try loop.watch(inbox.wakeup.descriptor, for: .readable) { [unowned self] _ in receiveEvents() }
    }

    // MARK: - Running

    /// Calls a handler when a descriptor is readable, such as one that reports signals of the system.
    package func watch(_ descriptor: Int32, _ handler: @escaping () -> Void) throws(BusFailure) {
        try loop.watch(descriptor, for: .readable) { _ in handler() }
    }

    /// Serves until `stop`, or until the connection to the bus is lost.
    package func run() throws(BusFailure) {
        while state == .running { turn() }
        tree.flush()
        house.detach()
        for client in clients.values { client.user.detach() }
        if case .stopping(let failure?) = state { throw failure }
    }

    /// Lets `run` return.
    package func stop() { state = .stopping(nil) }

    private func turn() {
        var isBusy = false
        do throws(BusFailure) {
            isBusy = try bus.process(limit: Self.messagesPerTurn)
        } catch {
            state = .stopping(error)
            return
        }
        timers.fire()
        tree.flush()
        loop.update(bus.descriptor, for: EventLoop.Readiness(rawValue: UInt32(bus.events)))
        let deadline = min(bus.deadline ?? .max, timers.deadline ?? .max)
        loop.wait(until: isBusy ? 0 : deadline == .max ? nil : deadline)
    }

    // MARK: - Events

    private func receiveEvents() {
        for batch in inbox.take() {
            if batch.user == house.id {
                for event in batch.events { received(event, batch) }
            } else if let client = clientNames[batch.user].flatMap({ clients[$0] }) {
                for event in batch.events { client.received(event, batch) }
            }
        }
    }

    /// Handles an event of the daemon's own user.
    private func received(_ event: UserEvent, _ batch: EventBatch) {
        switch event {
        case .adapter(let status): adapter.statusChanged(status)
        case .ended(let token, let result): house.end(token, result)
        case .linkBegan(let link, let information): devices.linkBegan(link, information)
        case .linkEnded(let link, let reason): devices.linkEnded(link, reason)
        case .mtuChanged(let link, let mtu): devices.connected(link)?.mtuChanged(mtu)
        case .peerIdentified(let link, let peer): devices.identified(link, as: peer)
        case .nameChanged(let peer, let name): devices[peer]?.nameRead(name)
        case .servicesKnown(let link, _): devices.connected(link)?.changesFollowed()
        case .servicesChanged(let link, let handles): devices.connected(link)?.servicesChanged(in: handles)
        case .securityChanged(let link, let security): devices.connected(link)?.securityChanged(security)
        case .pairingEnded(let link, let result):
            agents.pairingEnded(link, result)
            devices.connected(link)?.pairingSettled()
        case .pairingAsked(let link, let question): agents.asked(question, on: link)
        case .pairingShown(let link, let display): agents.shown(display, on: link)
        case .value(let link, let handle, let payload):
            guard let characteristic = devices.connected(link)?.characteristic(handle) else { return }
            characteristic.received([UInt8](batch.octets(of: payload)))
        case .subscriptionBegan(let link, let token): devices.connected(link)?.subscriptionBegan(token)
        case .bondRefused, .sightings, .advertisingSetEnded, .periodic, .subevents, .parametersChanged, .phyChanged,
            .power, .sendCredit, .lost, .channel, .written, .readRequested,
            .writeRequested, .executeRequested, .authorizationRequested, .requestExpired, .subscriptionChanged:
            return
        }
    }

    // MARK: - Clients

    /// The client that makes a call, which it becomes with its first request.
    func client(of call: MethodCall) throws(BusError) -> Client {
        if let client = clients[call.sender] { return client }
        guard clients.count < Self.clientLimit else {
            throw .limitsExceeded("\(clients.count) programs use the adapter; close some of them")
        }
        let client = Client(call.sender, self)
        clients[call.sender] = client
        clientNames[client.user.id] = call.sender
        return client
    }

    /// Releases everything that a client requested.
    private func removeClient(_ name: String) {
        bus.forgetCalls(to: name)
        guard let client = clients.removeValue(forKey: name) else { return }
        clientNames[client.user.id] = nil
        client.leave()
    }
}

/// The fixed objects.
enum Paths {
    static let bluez = ObjectPath.root.appending("org").appending("bluez")
}
