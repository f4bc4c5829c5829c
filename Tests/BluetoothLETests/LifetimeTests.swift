import AdapterTestSupport
import BluetoothAdapter
import BluetoothHost
import Synchronization
import Testing

@testable import BluetoothLE
@testable import VirtualRadio

@Suite("The lifetime of an adapter", .timeLimit(.minutes(30)))
struct LifetimeTests {
    @Test("Closing twice is harmless, and later calls throw adapterClosed")
    func closedTwice() async throws {
        let scene = try await Scene()
        let events = scene.central.events()
        await scene.central.close()
        await scene.central.close()
        let address = scene.connection.peer
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await scene.central.connect(to: address) },
            { _ = try await scene.central.scan().first() },
            { try await scene.central.advertise(AdvertisementData()) },
            { _ = try await scene.central.publish(Scene.definition) },
            { _ = try await scene.connection.rssi() },
            { try await scene.connection.waitForDisconnection() },
            { try await scene.service.withdraw() },
        ]
        await scene.peripheral.close()
        for call in calls { await #expect(throws: BluetoothError.adapterClosed) { try await call() } }
        try await scene.connection.disconnect()
        scene.central.stopAdvertising()
        #expect(scene.central.connections.isEmpty)
        #expect(await events.end() == .adapterClosed)
        #expect(await scene.central.events().end() == .adapterClosed)
    }

    @Test("Many concurrent calls on a closed adapter all end")
    func manyAfterClosing() async throws {
        let adapter = try await Adapter.open(VirtualRadio().addController())
        await adapter.close()
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    await #expect(throws: BluetoothError.adapterClosed) { _ = try await adapter.scan().first() }
                }
            }
        }
    }

    /// What the application still holds when it lets go of an adapter, or has left lying about.
    enum Remainder: CaseIterable {
        case nothing, link, sequences, untakenEvents, scan
    }

    @Test("An adapter without references is closed, and its thread ends", arguments: Remainder.allCases)
    func released(_ remainder: Remainder) async throws {
        let radio = VirtualRadio()
        let peer = try await Adapter.open(radio.addController())
        weak var adapter: Adapter?
        weak var runner: AdapterRunner?
        var sightings: EventSequence<Sighting>?
        var events: EventSequence<AdapterEvent>?
        do {
            let opened = try await Adapter.open(radio.addController())
            (adapter, runner) = (opened, opened.router.runner)
            switch remainder {
            case .nothing: break
            case .scan: _ = opened.scan()
            case .sequences: (sightings, events) = (opened.scan(), opened.events())
            case .link, .untakenEvents:
                let service = try await opened.publish(Scene.definition)
                events = opened.events()
                try await opened.advertise(AdvertisementData(name: "Gone"))
                let connection = try await peer.connect(to: try #require(opened.information?.address))
                if remainder == .untakenEvents {
                    let indicated = try await connection.characteristic(Scene.indicated, in: Scene.service)
                    _ = try await connection.notifications(of: indicated)
                }
                _ = service
                events = nil
            }
        }
        await until { adapter == nil && runner?.isClosed != false }
        await until { radio.state.withLock { $0.hosts.count == 1 } }
        if let sightings { #expect(await sightings.end() == .adapterClosed) }
        if let events { #expect(await events.end() == .adapterClosed) }
        await peer.close()
    }

    @Test(
        "An adapter disconnects its peers when it is closed, and when its last reference is released",
        arguments: [true, false])
    func disconnects(isClosed: Bool) async throws {
        let radio = VirtualRadio()
        let peripheral = try await Adapter.open(radio.addController())
        try await peripheral.advertise(AdvertisementData())
        let events = peripheral.events()
        do {
            let central = try await Adapter.open(radio.addController())
            _ = try await central.connect(to: try #require(peripheral.information?.address))
            if isClosed {
                await central.close()
                #expect(central.router.runner.isReleased)
            }
        }
        for try await event in events {
            guard case .disconnected(_, let reason) = event else { continue }
            #expect(reason == .byPeer, "and not the supervision timeout")
            break
        }
        await peripheral.close()
    }

    @Test("The thread of a closed adapter ends while the adapter is still referenced")
    func threadEnds() async throws {
        let adapter = try await Adapter.open(VirtualRadio().addController())
        #expect(!adapter.router.runner.isClosed)
        await adapter.close()
        #expect(adapter.router.runner.isClosed)
        #expect(adapter.connections.isEmpty)
    }

    @Test("Without recovery, an adapter whose controller stops responding throws controllerNotResponding")
    func givenUp() async throws {
        var options = AdapterOptions(seed: 1)
        options.isRecovering = false
        let scene = try await Scene(time: .manual, centralOptions: options)
        let pending = Task { try await scene.connection.waitForDisconnection() }
        await until { await scene.central.pendingCount == 1 }
        scene.radio.withAir { air, now in
            air[scene.centralPort.identifier].faults.ignoresCommands = true
            air.reportHardwareError(1, on: scene.centralPort.identifier)
        }
        #expect(try await scene.radio.passing { try await pending.value } == .adapterReset)
        let events = scene.central.events()
        let end = try await scene.radio.passing { await events.end() }
        #expect(end == .adapter(.controllerNotResponding(.reset)))
        await #expect(throws: BluetoothError.adapter(.controllerNotResponding(.reset))) {
            _ = try await scene.central.scan().first()
        }
    }
}
