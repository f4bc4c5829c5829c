import AdapterTestSupport
import BluetoothBase
import HCITransport
import Testing
import VirtualRadio

@testable import BluetoothLE

/// What becomes of calls that need no link is told here; `EndingTests` has those on a link.
@Suite("Unplugging and replugging an adapter", .timeLimit(.minutes(30)))
struct RemovalTests {
    enum Call: CaseIterable {
        case scan, firstSighting, connect, connectWithoutTimeout, advertise, disconnect, waitForDisconnection

        func run(on scene: Scene, _ sightings: EventSequence<Sighting>) async throws(BluetoothError) {
            let away = DeviceAddress(0xAA, kind: .public)
            switch self {
            case .scan: for try await _ in sightings {}
            case .firstSighting: _ = try await scene.central.firstSighting(for: ScanFilter(services: ["FFFF"]))
            case .connect: _ = try await scene.central.connect(to: away)
            case .connectWithoutTimeout: _ = try await scene.central.connect(to: away, timeout: nil)
            case .advertise: try await scene.central.advertise(AdvertisementData(name: "x"))
            case .disconnect: try await scene.connection.disconnect()
            case .waitForDisconnection: try await scene.connection.waitForDisconnection()
            }
        }

        /// What it comes to: the end of a link is what some of them wait for.
        var error: BluetoothError? {
            switch self {
            case .scan, .firstSighting, .connect, .connectWithoutTimeout, .advertise: .adapterRemoved
            case .disconnect, .waitForDisconnection: nil
            }
        }
    }

    private func failure(_ body: () async throws(BluetoothError) -> Void) async -> BluetoothError? {
        do throws(BluetoothError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test("Every call ends exactly once when the adapter is unplugged", arguments: Call.allCases)
    func ends(_ call: Call) async throws {
        let scene = try await Scene(time: .manual) { $0.responseDelay = .milliseconds(1) }
        let sightings = scene.central.scan(for: ScanFilter(services: ["FFFF"]))
        let before = scene.central.scanCount
        let task = Task { await failure { () throws(BluetoothError) in try await call.run(on: scene, sightings) } }
        switch call {
        case .scan: break
        case .firstSighting: await until { scene.central.scanCount > before }
        default: await until { await scene.central.pendingCount == 1 }
        }
        scene.centralPort.unplug()
        #expect(try await scene.radio.passing { await task.value } == call.error)
        #expect(await scene.central.pendingCount == 0)
        #expect(scene.central.scanCount == 0)
        #expect(await failure { () throws(BluetoothError) in try await call.run(on: scene, sightings) } == call.error)

        scene.centralPort.plugIn()
        try await scene.radio.passing { await until { scene.central.information != nil } }
        #expect(!scene.radio.withAir { air, _ in air[scene.centralPort.identifier].isScanning })
        #expect(!scene.radio.withAir { air, _ in air[scene.centralPort.identifier].isAdvertising })
        #expect(try await scene.works())
    }

    @Test("Calls made while the adapter is missing throw adapterRemoved, but stopAdvertising does not")
    func whileGone() async throws {
        let scene = try await Scene(time: .manual)
        let stored = try scene.local(Scene.stored)
        scene.peripheralPort.unplug()
        await until { scene.peripheral.information == nil }
        let adapter = scene.peripheral
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await adapter.scan().first() },
            { _ = try await adapter.connect(to: scene.connection.peer) },
            { try await adapter.advertise(AdvertisementData()) },
            { _ = try await adapter.publish(Scene.definition) },
            { try await stored.setValue([1]) },
            { try await scene.service.withdraw() },
        ]
        for call in calls { await #expect(throws: BluetoothError.adapterRemoved) { try await call() } }
        #expect(adapter.connections.isEmpty)
        #expect(await stored.value == [1, 2, 3])
        adapter.stopAdvertising()
        scene.peripheralPort.plugIn()
        try await scene.radio.passing { await until { adapter.information != nil } }
        #expect(!scene.radio.withAir { air, _ in air[scene.peripheralPort.identifier].isAdvertising })
    }

    @Test("Event sequences report the removal and the return in order, and continue")
    func events() async throws {
        let scene = try await Scene(time: .manual)
        let (_, subscriber) = try await scene.subscribe(to: Scene.notified)
        let events = scene.peripheral.events()
        let published = try scene.local(Scene.notified).events
        _ = try await published.first()  // Subscribed.
        let link = subscriber.connection
        scene.peripheralPort.unplug()
        guard case .disconnected(link, .adapterRemoved) = try await events.first() else {
            Issue.record("the link has not ended")
            return
        }
        let cause = TransportError(.adapterRemoved, transport: "virtual")
        guard case .removed(.transport(cause)) = try await events.first() else {
            Issue.record("the adapter was not removed")
            return
        }
        guard case .unsubscribed(subscriber) = try await published.first() else {
            Issue.record("the subscription has not ended")
            return
        }
        #expect(try await link.waitForDisconnection() == .adapterRemoved)
        await #expect(throws: BluetoothError.adapterRemoved) { try await subscriber.notify([1]) }

        scene.peripheralPort.plugIn()
        guard case .ready = try await scene.radio.passing({ try await events.first() }) else {
            Issue.record("the adapter is not ready")
            return
        }
        // The central has missed it by now or soon, and finds it again: advertising goes on by itself.
        try await scene.radio.passing { await until { scene.central.connections.isEmpty } }
        let characteristic = try scene.remote(Scene.notified)
        let values = try await scene.radio.passing {
            try await scene.central.connect(to: scene.connection.peer).notifications(of: characteristic)
        }
        guard case .subscribed(let again) = try await published.first() else {
            Issue.record("nobody has subscribed")
            return
        }
        #expect(again != subscriber)
        try await again.notify([42])
        #expect(try await scene.radio.passing { try await values.first() } == [42])
        await #expect(throws: BluetoothError.adapterRemoved) { try await subscriber.notify([1]) }
        guard case .connected = try await events.first() else {
            Issue.record("the sequence does not go on")
            return
        }
    }

    @Test("An adapter that is unplugged and immediately replugged still loses its links")
    func atOnce() async throws {
        let scene = try await Scene(time: .manual)
        let events = scene.central.events()
        let values = try await scene.subscribe(to: Scene.notified).values
        scene.centralPort.unplug()
        scene.centralPort.plugIn()
        #expect(await values.end() == .adapterRemoved)
        let told = try await scene.radio.passing { try await events.prefix(count: 3) }
        guard case .disconnected = told[0], case .removed = told[1], case .ready = told[2] else {
            Issue.record("\(told)")
            return
        }
        try await scene.radio.passing { await until { scene.peripheral.connections.isEmpty } }
        #expect(try await scene.works())
    }

    enum Stage: CaseIterable {
        case gone, returning, ready
    }

    @Test("An unplugged adapter can be closed at every stage of its return", arguments: Stage.allCases)
    func closed(_ stage: Stage) async throws {
        let radio = VirtualRadio(time: .manual)
        let port = radio.addController { $0.responseDelay = .seconds(1) }
        let adapter = try await radio.passing { try await Adapter.open(port) }
        let events = adapter.events()
        port.unplug()
        guard case .removed = try await events.first() else {
            Issue.record("not removed")
            return
        }
        if stage != .gone {
            port.plugIn()
            await radio.advance(by: .seconds(2))
            #expect(adapter.information == nil, "it is being brought up")
            await #expect(throws: BluetoothError.adapterRemoved) { _ = try await adapter.scan().first() }
        }
        if stage == .ready { try await radio.passing { await until { adapter.information != nil } } }
        await adapter.close()
        #expect(await events.end() == .adapterClosed)
        await #expect(throws: BluetoothError.adapterClosed) { _ = try await adapter.scan().first() }
        port.plugIn()
        await radio.advance(by: .seconds(30))
        #expect(!radio.withAir { air, _ in air[port.identifier].isScanning })
        #expect(adapter.router.runner.takeTurn() == nil)
        let another = try await radio.passing { try await Adapter.open(port) }
        #expect(another.information != nil)
    }

    @Test("An adapter can be unplugged again while it is being initialized")
    func unpluggedWhileReturning() async throws {
        let radio = VirtualRadio(time: .manual)
        let port = radio.addController { $0.responseDelay = .milliseconds(100) }
        let adapter = try await radio.passing { try await Adapter.open(port) }
        let events = adapter.events()
        for _ in 0..<5 {
            port.unplug()
            await radio.advance(by: .milliseconds(300))
            port.plugIn()
            await radio.advance(by: .milliseconds(700))
        }
        let told = try await radio.passing { try await events.prefix(count: 2) }
        guard case .removed = told[0], case .ready = told[1] else {
            Issue.record("\(told)")
            return
        }
        #expect(adapter.information != nil)
    }

    @Test("Without recovery, removal ends the adapter for good")
    func notRecovering() async throws {
        let radio = VirtualRadio(time: .manual)
        let port = radio.addController()
        var options = AdapterOptions(seed: 1)
        options.isRecovering = false
        let adapter = try await radio.passing { [options] in try await Adapter.open(port, options: options) }
        let sightings = adapter.scan()
        port.unplug()
        let gone = BluetoothError.transport(TransportError(.adapterRemoved, transport: "virtual"))
        #expect(await sightings.end() == gone)
        port.plugIn()
        await radio.advance(by: .seconds(10))
        await #expect(throws: gone) { _ = try await adapter.scan().first() }
    }

    @Test("Opening an adapter that is missing fails without waiting for it")
    func openedWhileGone() async throws {
        let port = VirtualRadio(time: .manual).addController()
        port.unplug()
        let gone = BluetoothError.transport(TransportError(.adapterRemoved, transport: "virtual"))
        await #expect(throws: gone) { _ = try await Adapter.open(port) }
    }

    @Test("An unresponsive controller is retried with increasing delays until it answers")
    func givenUp() async throws {
        let scene = try await Scene(time: .manual)
        let events = scene.central.events()
        let address = scene.connection.peer
        scene.radio.withAir { air, _ in air[scene.centralPort.identifier].faults.ignoresCommands = true }
        let failure = BluetoothError.adapter(.controllerNotResponding(.reset))
        let connecting = Task { try await scene.central.connect(to: DeviceAddress(9, kind: .public)) }
        let causes = try await scene.radio.passing { () -> [BluetoothError] in
            var causes: [BluetoothError] = []
            for try await event in events {
                guard case .removed(let cause) = event else { continue }
                causes.append(cause)
                break
            }
            return causes
        }
        #expect(causes == [failure])
        await #expect(throws: BluetoothError.self) { _ = try await connecting.value }
        await scene.radio.advance(by: .seconds(120))
        #expect(scene.central.information == nil)
        scene.radio.withAir { air, _ in air[scene.centralPort.identifier].faults.ignoresCommands = false }
        guard case .ready = try await scene.radio.passing({ try await events.first() }) else {
            Issue.record("not ready")
            return
        }
        _ = try await scene.radio.passing { try await scene.central.connect(to: address) }
    }
}
