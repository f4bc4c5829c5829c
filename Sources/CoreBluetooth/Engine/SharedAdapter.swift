import BluetoothAdapter
import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSMP
import Dispatch
import Foundation
import HCITransport

/// A user of a `SharedAdapter`: a manager. Called on the adapter's queue.
protocol AdapterUser: AnyObject {
    /// Called before everything else.
    func begin()
    /// The adapter is available. It reports its own status.
    func join(_ runner: AdapterRunner)
    /// The adapter is unavailable.
    func adapterIsAway(_ state: CBManagerState)
    /// Whether the application publishes something that needs encryption.
    var publishesProtectedValues: Bool { get }
    /// The environment in which this user keeps its state; nil if it keeps none.
    var home: ManagerEnvironment? { get }
    /// Calls `body` when all events so far have been delivered to the application.
    func whenDelivered(_ body: @escaping @Sendable () -> Void)
}

extension AdapterUser {
    var publishesProtectedValues: Bool { false }
    var home: ManagerEnvironment? { nil }
    func whenDelivered(_ body: @escaping @Sendable () -> Void) { body() }
}

/// The adapter that all managers with one transport share: opened for the first and closed after the last manager.
final class SharedAdapter: @unchecked Sendable {
    // Unchecked: mutable state is used on `queue` alone, or guarded.

    private static let all = Guarded<[BluetoothTransport: SharedAdapter]>(wrappedValue: [:])

    /// The Device Names of peers connected in this run.
    let names = DeviceNames()
    /// The advertisements of the devices around.
    let advertisements: Advertisements
    private let source: Source
    /// Serializes opening and closing: reopening waits until the adapter has been released.
    private let queue: CallbackQueue
    private var runner: AdapterRunner?
    private var users: [ObjectIdentifier: any AdapterUser] = [:]
    private var isSwitchedOff = false
    private var isForbidden = false
    /// The user interaction for pairing that a test has set; nil for that of the first manager.
    private var simulatedPairing: BluetoothPairing?
    private weak var pairingUser: PairingUser?

    /// The origin of the adapter.
    private enum Source {
        case transport(BluetoothTransport)
        /// An adapter with another owner, which closes it.
        case runner(AdapterRunner)
    }

    private init(_ transport: BluetoothTransport) {
        source = .transport(transport)
        queue = .dispatch(DispatchQueue(label: "CoreBluetooth.adapter"))
        advertisements = Advertisements { CFAbsoluteTimeGetCurrent() }
    }

    /// An adapter of a simulated world.
    init(_ runner: AdapterRunner, on queue: any VirtualQueue) {
        source = .runner(runner)
        self.queue = .virtual(queue)
        advertisements = Advertisements { runner.virtualTime }
    }

    /// The adapter at a transport.
    static func at(_ transport: BluetoothTransport) -> SharedAdapter {
        all.withLock { all in
            if let adapter = all[transport] { return adapter }
            let adapter = SharedAdapter(transport)
            all[transport] = adapter
            return adapter
        }
    }

    /// Forgets a transport that no longer exists.
    static func forget(_ transport: BluetoothTransport) { all.withLock { $0[transport] = nil } }

    // MARK: - Users

    func add(_ user: any AdapterUser) {
        queue.async { [self] in
            user.begin()
            users[ObjectIdentifier(user)] = user
            admit([user])
        }
    }

    /// - Parameter leave: the user's last action.
    func remove(_ user: any AdapterUser, _ leave: @escaping () -> Void) {
        queue.async { [self] in
            leave()
            users[ObjectIdentifier(user)] = nil
            if users.isEmpty { close() }
        }
    }

    /// The adapter, while it is open.
    var current: AdapterRunner? {
        switch queue {
        case .dispatch(let queue): queue.sync { runner }
        case .virtual: runner
        }
    }

    // MARK: - Opening and closing

    private func admit(_ users: [any AdapterUser]) {
        if let offState {
            for user in users { user.adapterIsAway(offState) }
            return
        }
        do {
            let runner = try self.runner ?? open(users.lazy.compactMap(\.home).first)
            self.runner = runner
            for user in users { user.join(runner) }
        } catch {
            // There is no retry: the error is reported to each manager.
            reportFailure("Bluetooth is not available: \(error)")
            for user in users { user.adapterIsAway(.unsupported) }
        }
    }

    /// - Parameter home: the environment of the user for whom the adapter is opened. Bonds are kept there as well.
    private func open(_ home: ManagerEnvironment?) throws -> AdapterRunner {
        switch source {
        case .runner(let runner): return runner
        case .transport(let transport):
            let runner = try open(transport, home)
            guard let home else { return runner }
            let pairing = simulatedPairing ?? home.pairing
            pairingUser = PairingUser.attach(to: runner, home.identities, pairing) { [weak self] reply in
                guard let self else { return reply(false) }
                queue.async { reply(self.users.values.contains { $0.publishesProtectedValues }) }
            }
            return runner
        }
    }

    private func open(
        _ transport: BluetoothTransport, _ home: ManagerEnvironment?
    ) throws -> AdapterRunner {
        var options = AdapterOptions(seed: home?.seed)
        options.host.deviceName = ProcessInfo.processInfo.hostName
        options.retriesOpening = true
        if let home { options.host.security?.policy.requirement = home.pairing.requirement }
        options.bonds = home?.bonds
        options.reportBonds = { reportFailure("bonds: \($0)") }
        options.reportMissingCiphers = { reportFailure("devices cannot pair with this one: \($0)") }
        switch transport.way {
        case .port(let port): return try AdapterRunner(port, options: options)
        case .named(let text):
            let name = try TransportName(text)
            if name == .virtual { return try AdapterRunner(Self.virtualController(), options: options) }
            return try AdapterRunner(name, options: options)
        }
    }

    /// A controller of the radio in this process.
    ///
    /// - Throws: `.radioNotLinked` if the program does not link `VirtualRadio`. This module does not.
    private static func virtualController() throws(TransportError) -> any PacketPort {
        guard let controller = NSClassFromString("VirtualRadio.SharedController") as? any LinkedController.Type else {
            throw TransportError(.radioNotLinked, transport: TransportName.virtual.description)
        }
        return controller.make()
    }

    /// Closes the adapter. Later blocks of the queue, such as opening it again, wait until its peers are disconnected
    /// and its controller is released. No thread is blocked for that.
    private func close() {
        guard let runner else { return }
        self.runner = nil
        advertisements.removeAll()
        guard case .transport = source, case .dispatch(let queue) = queue, !runner.isTimeManual else {
            if case .transport = source { runner.close {} }
            return
        }
        queue.suspend()
        runner.close { queue.resume() }
    }

    // MARK: - Power and permission, changed by tests

    /// The state that applications see while the adapter is off; nil while it is on.
    private var offState: CBManagerState? { isForbidden ? .unauthorized : isSwitchedOff ? .poweredOff : nil }

    /// Waits until every user has delivered all events so far to its application.
    func waitUntilDelivered() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                let delivery = DispatchGroup()
                for user in users.values {
                    delivery.enter()
                    user.whenDelivered { delivery.leave() }
                }
                delivery.notify(queue: .global()) { continuation.resume() }
            }
        }
    }

    func setPower(_ isOn: Bool) async { await change { $0.isSwitchedOff = !isOn } }

    func setForbidden(_ isForbidden: Bool) async { await change { $0.isForbidden = isForbidden } }

    func setPairing(_ pairing: BluetoothPairing) {
        guard case .dispatch(let queue) = queue else { return }
        queue.sync {
            simulatedPairing = pairing
            pairingUser?.use(pairing)
        }
    }

    private func change(_ body: @escaping (SharedAdapter) -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                let before = offState
                body(self)
                if offState != before {
                    close()
                    if !users.isEmpty { admit(Array(users.values)) }
                }
                continuation.resume()
            }
        }
    }
}
