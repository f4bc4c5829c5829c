import AdapterTestSupport
import BluetoothBase
import Testing
import VirtualRadio

@testable import BluetoothLE

/// Every call on a link ends, exactly once, whatever happens to it. Time stands still, so each is pending when its end
/// comes.
@Suite("Every call on a link ends", .timeLimit(.minutes(30)))
struct EndingTests {
    enum Call: CaseIterable {
        case discoverAll, discoverServices, discoverIncludedServices, discoverCharacteristics, discoverDescriptors
        case findCharacteristic, read, readDynamic, readByUUID, write, writeLong, writeWithoutResponse
        case subscribe, receive, receiveMessage, unsubscribe
        case readRSSI, updateParameters, waitForDisconnection
        case notify, indicate, sendMessage, indicateInLine

        var isOfPeripheral: Bool {
            switch self {
            case .notify, .indicate, .sendMessage, .indicateInLine: true
            default: false
            }
        }

        /// Whether the end of the link is what the call waits for.
        var isForEnd: Bool { self == .waitForDisconnection }

        func run(on scene: Scene, _ fixture: Fixture) async throws(BluetoothError) {
            let connection = scene.connection
            let long = [UInt8](repeating: 7, count: 512)
            switch self {
            case .discoverAll: _ = try await connection.discoverAll()
            case .discoverServices: _ = try await connection.discoverServices(Scene.service)
            case .discoverIncludedServices: _ = try await connection.discoverIncludedServices(of: fixture.service)
            case .discoverCharacteristics: _ = try await connection.discoverCharacteristics(of: fixture.service)
            case .discoverDescriptors: _ = try await connection.discoverDescriptors(of: fixture.stored)
            case .findCharacteristic: _ = try await connection.characteristic(Scene.stored, in: Scene.service)
            case .read: _ = try await connection.read(fixture.stored)
            case .readDynamic: _ = try await connection.read(fixture.dynamic)
            case .readByUUID: _ = try await connection.read(Scene.stored)
            case .write: try await connection.write([1, 2, 3], to: fixture.stored)
            case .writeLong: try await connection.write(long, to: fixture.stored)
            case .writeWithoutResponse:
                while true { try await connection.writeWithoutResponse([1, 2, 3], to: fixture.stored) }
            case .subscribe: _ = try await connection.notifications(of: fixture.spare)
            case .receive: _ = try await fixture.values.first()
            case .receiveMessage: _ = try await connection.receiveMessage(from: fixture.spare)
            case .unsubscribe: try await connection.unsubscribe(from: fixture.notified)
            case .readRSSI: _ = try await connection.rssi()
            case .updateParameters: try await connection.updateParameters(fixture.parameters)
            case .waitForDisconnection: try await connection.waitForDisconnection()
            case .notify: while true { try await fixture.subscriber.notify([1]) }
            case .indicate: try await fixture.indicated.indicate([1])
            case .sendMessage: try await fixture.subscriber.sendMessage(Array(repeating: 7, count: 4096))
            case .indicateInLine: try await fixture.indicated.indicate([2])
            }
        }
    }

    /// What the calls need, prepared while time still passes.
    struct Fixture {
        let service: DiscoveredService
        let stored, dynamic, notified, spare: DiscoveredCharacteristic
        let values, indications: EventSequence<[UInt8]>
        let subscriber, indicated: Subscriber
        let parameters = ConnectionParameters(
            minimumInterval: .milliseconds(50), maximumInterval: .milliseconds(50), supervisionTimeout: .seconds(2))

        init(_ scene: Scene) async throws {
            let handles = scene.service.handles
            service = DiscoveredService(
                uuid: Scene.service, startHandle: handles.declaration, endHandle: handles.end)
            (stored, dynamic) = (try scene.remote(Scene.stored), try scene.remote(Scene.dynamic))
            notified = try scene.remote(Scene.notified)
            spare = try scene.remote(Scene.spare)
            (values, subscriber) = try await scene.subscribe(to: Scene.notified)
            (indications, indicated) = try await scene.subscribe(to: Scene.indicated)
        }
    }

    enum End: CaseIterable {
        case byPeer, outOfRange, hardwareError, unplugging, closing, cancellation

        var error: BluetoothError {
            switch self {
            case .byPeer: .disconnected(.byPeer)
            case .outOfRange: .disconnected(.supervisionTimeout)
            case .hardwareError: .disconnected(.adapterReset)
            case .unplugging: .adapterRemoved
            case .closing: .adapterClosed
            case .cancellation: .cancelled
            }
        }

        var isOfLink: Bool {
            switch self {
            case .byPeer, .outOfRange, .hardwareError, .unplugging: true
            case .closing, .cancellation: false
            }
        }
    }

    private func failure(of call: Call, on scene: Scene, _ fixture: Fixture) async -> BluetoothError? {
        do throws(BluetoothError) {
            try await call.run(on: scene, fixture)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Whatever ends a call, its result matches the cause, and the adapter works again unless it was closed",
        arguments: Call.allCases, End.allCases)
    func ends(_ call: Call, _ end: End) async throws {
        // A controller answers Read RSSI by itself, long before the peer is lost.
        if call == .readRSSI, end == .outOfRange { return }
        let scene = try await Scene(time: .manual) { $0.responseDelay = .milliseconds(1) }
        let fixture = try await Fixture(scene)
        let radio = scene.radio
        let port = call.isOfPeripheral ? scene.peripheralPort : scene.centralPort
        let adapter = call.isOfPeripheral ? scene.peripheral : scene.central
        let idle = await adapter.pendingCount
        let other = call == .indicateInLine ? Task { await failure(of: .indicate, on: scene, fixture) } : nil
        if other != nil { await until { await adapter.pendingCount > idle } }

        let task = Task { await failure(of: call, on: scene, fixture) }
        let before = idle + (other == nil ? 0 : 1)
        if call != .receive { await until { await adapter.pendingCount > before } }
        switch end {
        case .byPeer:
            radio.withAir { air, now in
                air.dropLinks(of: port.identifier, reason: .remoteUserTerminatedConnection, at: now)
            }
        case .outOfRange: radio.setPathLoss(between: scene.centralPort, and: scene.peripheralPort, to: 200)
        case .hardwareError: radio.withAir { air, _ in air.reportHardwareError(3, on: port.identifier) }
        case .unplugging: port.unplug()
        case .closing: await adapter.close()
        case .cancellation: task.cancel()
        }
        let error = try await radio.passing { await task.value }
        #expect(error == (call.isForEnd && end.isOfLink ? nil : end.error))
        if let other {
            #expect(try await radio.passing { await other.value } == (end == .cancellation ? nil : end.error))
        }

        if end == .closing {
            #expect(await failure(of: call, on: scene, fixture) == .adapterClosed)
        } else {
            if end == .unplugging, !call.isForEnd {
                #expect(await failure(of: call, on: scene, fixture) == .adapterRemoved, "while it is gone")
            }
            port.plugIn()
            radio.setPathLoss(between: scene.centralPort, and: scene.peripheralPort, to: 50)
            try await radio.passing {
                await until { adapter.information != nil }
                if end.isOfLink { await until { scene.central.connections.isEmpty } }
            }
            #expect(try await scene.works())
            if end == .unplugging, !call.isForEnd {
                #expect(await failure(of: call, on: scene, fixture) == .adapterRemoved, "a link that ended so")
            }
        }
        await until { await adapter.pendingCount == 0 }
    }

    @Test func `the reason of a link's end is thrown also if the call arrives when the host has forgotten the link`()
        async throws
    {
        let scene = try await Scene(time: .manual)
        let (router, link) = (scene.connection.router, scene.connection.link)
        scene.radio.withAir { air, now in
            air.dropLinks(of: scene.centralPort.identifier, reason: .remoteUserTerminatedConnection, at: now)
        }
        try await scene.radio.passing { _ = try await scene.connection.waitForDisconnection() }

        // Like a call whose caller checked the link before the end.
        let answer = await #expect(throws: BluetoothError.self) {
            try await scene.radio.passing { try await router.call(.readRSSI(link.identifier)) }
        }
        #expect(answer == .disconnected(.unknown))
        #expect(link.explained(try #require(answer)) == .disconnected(.byPeer))
        #expect(link.explained(.notReady) == .disconnected(.byPeer))
        #expect(link.explained(.timedOut) == .timedOut)
    }

    @Test("A deadline ends every call", arguments: Call.allCases)
    func deadline(_ call: Call) async throws {
        let scene = try await Scene(time: .manual) { $0.responseDelay = .milliseconds(1) }
        let fixture = try await Fixture(scene)
        await #expect(throws: BluetoothError.timedOut) {
            try await withTimeout(.milliseconds(1)) { () throws(BluetoothError) in
                try await call.run(on: scene, fixture)
            }
        }
        #expect(try await scene.works())
    }

    @Test("A call in a task that is already cancelled throws cancelled", arguments: Call.allCases)
    func cancelledBefore(_ call: Call) async throws {
        let scene = try await Scene(time: .manual) { $0.responseDelay = .milliseconds(1) }
        let fixture = try await Fixture(scene)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure(of: call, on: scene, fixture)
        }
        #expect(await task.value == .cancelled)
        #expect(try await scene.works())
    }
}
