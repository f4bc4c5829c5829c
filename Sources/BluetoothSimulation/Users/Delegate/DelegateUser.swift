import BluetoothAdapter
import BluetoothBase
import BluetoothHost
import CoreBluetooth
import Foundation
import VirtualRadio

/// A user that works like an iOS app, with a central manager and a peripheral manager, and checks every callback of
/// both.
final class DelegateUser: NSObject, SimulatedUser {
    let run: ScenarioRun
    let station: Int
    let number: Int
    private(set) var callCount = 0
    var generator: SeededGenerator

    private(set) var central: CBCentralManager?
    private(set) var server: CBPeripheralManager?
    /// The state that each manager reported last; nil before the first callback.
    private var centralState: CBManagerState?
    private var serverState: CBManagerState?
    var peers: [DelegatePeer] = []
    var services: [DelegateService] = []
    /// Whether the user wants to advertise, and whether it did before the adapter was lost.
    var isAdvertisingWanted = false
    var isAdvertisingAgain = false
    /// The number of calls to start advertising without a callback.
    var startsToCome = 0
    /// The number of those calls made while the queue was suspended. Changes of the adapter in the meantime are
    /// reported before their callbacks.
    var unawareStarts = 0
    /// Whether an update was refused since the last `peripheralManagerIsReady`, possibly for a service that was removed
    /// since.
    var wasRefused = false
    /// Requests that the user has not answered.
    var requests: [CBATTRequest] = []
    /// The delay before the user answers; nil if it does not answer.
    var answerDelay: Duration? = .zero
    /// Whether the world is coming to rest.
    private(set) var isCalm = false

    private let environment: VirtualEnvironment
    /// The identifiers by which the user knows each station.
    private lazy var identifiers = (0..<run.world.stationCount).map { environment.identifier(for: run.address(of: $0)) }
    let queue: WorldQueue
    /// The queue of the peripheral manager, if the app uses separate queues.
    private static let secondQueue = DispatchQueue(label: "second")

    init(_ run: ScenarioRun, station: Int, number: Int) {
        self.run = run
        self.station = station
        self.number = number
        let world = run.world
        generator = SeededGenerator(seed: world.order.next())
        let (first, second) = (WorldQueue(world), WorldQueue(world))
        queue = first
        environment = VirtualEnvironment(
            run.runners[station], adapterQueue: WorldQueue(world), seed: generator.next()
        ) { $0 == nil ? first : second }
    }

    // MARK: - Lifetime

    var isAttached: Bool { central != nil }

    func join() {
        guard !isAttached else { return }
        (centralState, serverState) = (nil, nil)
        environment.with {
            central = CBCentralManager(delegate: self, queue: nil)
            server = CBPeripheralManager(delegate: self, queue: generator.oneIn(2) ? nil : Self.secondQueue)
        }
        if central?.state != .unknown || server?.state != .unknown {
            fail(.application, "a manager has a state before it reported one")
        }
    }

    func leave() {
        queue.resume()
        (central, server) = (nil, nil)
        peers = []
        services = []
        requests = []
        isAdvertisingWanted = false
        wasRefused = false
        startsToCome = 0
        unawareStarts = 0
    }

    func calm() {
        isCalm = true
        queue.resume()
        answerDelay = .zero
        for request in requests { respond(to: request) }
        requests = []
        for peer in peers where peer.phase == .connecting { cancel(peer) }
    }

    /// Stops an activity after some seconds, like most apps. The others continue until they are stopped.
    func inSomeSeconds(_ stop: @escaping (DelegateUser) -> Void) {
        guard !generator.oneIn(8) else { return }
        let duration = Duration.milliseconds(500 + generator.below(8_000))
        run.world.schedule(at: run.world.now.advanced(by: duration)) { [self] in stop(self) }
    }

    /// Suspends the first queue for some time, as if the application were busy.
    func stall(for duration: Duration) {
        queue.suspend()
        run.world.schedule(at: run.world.now.advanced(by: duration)) { [queue] in queue.resume() }
    }

    // MARK: - Checks

    func fail(_ rule: Violation.Rule, _ text: String) {
        run.world.fail(rule, "user \(number): \(text)", at: run.world.station(station))
    }

    /// Counts calls.
    func call(_ count: Int = 1) { callCount += count }

    /// Whether values from or to a peer may have been changed or lost in a way that no host can detect.
    func isTainted(_ peer: Int) -> Bool { run.isTainted(station) || run.isTainted(peer) }

    /// Checks that no callback precedes the state, and that it arrives while the adapter is on.
    func checkCentral(_ callback: String) {
        if centralState == nil { fail(.application, "\(callback) was called before the state was reported") }
        if central?.state != .poweredOn { fail(.application, "\(callback) was called while the adapter is off") }
    }

    func checkServer(_ callback: String) {
        if serverState == nil { fail(.application, "\(callback) was called before the state was reported") }
    }

    func checkQuiet() {
        guard isAttached else { return }
        if central?.state != .poweredOn || server?.state != .poweredOn {
            fail(.wanted, "a manager is not poweredOn long after the last fault")
        }
        if centralState != central?.state || serverState != server?.state {
            fail(.application, "the state of a manager differs from the one that it reported")
        }
        for peer in peers {
            let name = "the peripheral at station \(peer.station)"
            if !peer.operations.isEmpty {
                fail(.endsOnce, "operations on \(name) never ended: \(peer.operations.map(\.kind.rawValue))")
            }
            if peer.rssiReads > 0 { fail(.endsOnce, "readRSSI of \(name) never ended") }
            if peer.cancellations > 0 { fail(.endsOnce, "a disconnection of \(name) was never reported") }
            if peer.isAwaitingReady { fail(.wanted, "\(name) never became ready for writes without response") }
            if peer.phase == .connecting || peer.phase == .disconnecting {
                fail(.wanted, "\(name) is still \(peer.phase)")
            }
        }
        if startsToCome > 0 { fail(.endsOnce, "didStartAdvertising was never called") }
        if isAdvertisingWanted, server?.isAdvertising != true {
            fail(.wanted, "advertising was requested, but isAdvertising is false")
        }
        for service in services {
            if service.isPending { fail(.endsOnce, "didAdd was never called for a service") }
            if service.isAwaitingReady { fail(.wanted, "the peripheral manager never became ready for updates") }
        }
        checkSubscribers()
    }

    /// Always false: a delegate user's operations make the host pair only if the station has a pairing agent.
    func wantsPairing(with station: Int) -> Bool { false }

    var wantsScan: Bool { central?.isScanning == true }
    var wantsAdvertising: Bool { server?.isAdvertising == true }
    /// Managers only report their own connections, so this uses the controller's number.
    var linkCount: Int { run.world.air[run.world.stations[station].controller].connectionCount }

    /// The station of a peer, by its identifier.
    func station(of identifier: UUID) -> Int? { identifiers.firstIndex(of: identifier) }

    func identifier(of station: Int) -> UUID { identifiers[station] }

    func peer(_ peripheral: CBPeripheral) -> DelegatePeer? { peers.first { $0.peripheral === peripheral } }

    // MARK: - States

    func note(_ state: CBManagerState, isServer: Bool) {
        let before = isServer ? serverState : centralState
        if before == state { fail(.application, "the state \(state) was reported twice") }
        if isServer { serverState = state } else { centralState = state }
    }
}
