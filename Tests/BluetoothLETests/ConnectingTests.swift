import AdapterTestSupport
import BluetoothBase
import BluetoothHost
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Connecting and disconnecting", .timeLimit(.minutes(30)))
struct ConnectingTests {
    static let absent = DeviceAddress(0x00_00_5E_00_53_01, kind: .public)

    @Test("Connecting to an absent peer times out after 30 seconds, not before")
    func timedOut() async throws {
        let scene = try await Scene(time: .manual)
        let connecting = Task { try await scene.central.connect(to: Self.absent) }
        await until { await scene.central.pendingCount == 1 }
        await scene.radio.advance(by: .milliseconds(29_900))
        #expect(await scene.central.pendingCount == 1)
        await scene.radio.advance(by: .milliseconds(200))
        await #expect(throws: BluetoothError.timedOut) { _ = try await connecting.value }
        #expect(try await scene.works())
    }

    /// How an attempt that is pending may end.
    enum End: CaseIterable { case cancellation, closing, deadline, cancelledBefore }

    @Test("A pending connection attempt ends when it is called off", arguments: End.allCases)
    func calledOff(_ end: End) async throws {
        let scene = try await Scene(time: .manual)
        let central = scene.central
        let task = Task {
            if end == .cancelledBefore { withUnsafeCurrentTask { $0?.cancel() } }
            if end == .deadline {
                try await withTimeout(.milliseconds(1)) { () throws(BluetoothError) in
                    _ = try await central.connect(to: Self.absent, timeout: nil)
                }
            } else {
                _ = try await central.connect(to: Self.absent, timeout: nil)
            }
        }
        if end == .cancellation || end == .closing { await until { await central.pendingCount == 1 } }
        if end == .cancellation { task.cancel() }
        if end == .closing { await central.close() }
        let expected: BluetoothError = end == .closing ? .adapterClosed : end == .deadline ? .timedOut : .cancelled
        await #expect(throws: expected) { try await task.value }
        if end != .closing {
            #expect(try await scene.works())
            #expect(!scene.radio.withAir { air, _ in air[scene.centralPort.identifier].isInitiating })
        }
    }

    @Test("A connection attempt survives a controller reset")
    func reset() async throws {
        let scene = try await Scene(time: .manual)
        let port = scene.radio.addController()
        let late = try await Adapter.open(port)
        let address = try #require(late.information?.address)
        let connecting = Task { try await scene.central.connect(to: address) }
        await until { await scene.central.pendingCount == 1 }
        scene.radio.withAir { air, _ in air.reportHardwareError(1, on: scene.centralPort.identifier) }
        try await scene.radio.passing { try await late.advertise(AdvertisementData()) }
        let connection = try await scene.radio.passing { try await connecting.value }
        #expect(connection.peer == PeerID(address) && connection.address == address)
        #expect(connection.role == .central)
    }

    @Test("If the link ends before the caller continues, the caller learns the reason")
    func endedEarly() async throws {
        let scene = try await Scene(time: .manual)
        let (central, peer) = (scene.central, scene.connection.peer)
        try await scene.radio.passing { try await scene.connection.disconnect() }
        let executor = HoldingExecutor()
        let connecting = Task(executorPreference: executor) { try await central.connect(to: peer) }
        await until { await central.pendingCount == 1 }
        executor.hold()
        let link = try await scene.radio.passing { [peripheral = scene.peripheral] in
            await until {
                let isPending = await central.pendingCount > 0
                return !isPending && !central.connections.isEmpty
            }
            return try #require(peripheral.connections.first)
        }
        try await scene.radio.passing {
            try await link.disconnect()
            await until { central.connections.isEmpty }
        }
        executor.release()
        await #expect(throws: BluetoothError.disconnected(.byPeer)) { try await connecting.value }
        #expect(try await scene.works())
    }

    @Test("A connection that fails to be established is retried transparently")
    func established() async throws {
        let scene = try await Scene(time: .manual)
        try await scene.radio.passing { try await scene.connection.disconnect() }
        scene.radio.withAir { air, _ in air[scene.centralPort.identifier].faults.failingConnections = 1 }
        #expect(try await scene.works())
    }

    @Test("Connecting to a peer that is already connected fails")
    func twice() async throws {
        let scene = try await Scene()
        await #expect(throws: BluetoothError.alreadyConnected) {
            _ = try await scene.central.connect(to: scene.connection.peer)
        }
        #expect(try await scene.works())
    }

    @Test(
        "Either side can disconnect, both learn who did, and later calls throw the reason", arguments: [true, false])
    func reasons(_ isCentral: Bool) async throws {
        let scene = try await Scene()
        let other = try #require(scene.peripheral.connections.first)
        #expect(other.role == .peripheral)
        let (mine, theirs) = isCentral ? (scene.connection, other) : (other, scene.connection)
        try await mine.disconnect()
        #expect(try await theirs.waitForDisconnection() == .byPeer)
        #expect(try await mine.waitForDisconnection() == .byThisDevice)
        try await mine.disconnect()
        #expect(!mine.isConnected && !theirs.isConnected)
        await #expect(throws: BluetoothError.disconnected(.byThisDevice)) { _ = try await mine.rssi() }
        await #expect(throws: BluetoothError.disconnected(.byPeer)) { _ = try await theirs.rssi() }
        await #expect(throws: BluetoothError.disconnected(.byPeer)) { _ = try await theirs.discoverAll() }
        #expect(try await scene.works())
    }

    @Test("An unanswered ATT request ends the link after 30 seconds, and every request with it")
    func transactionTimeout() async throws {
        let scene = try await Scene(time: .manual)
        let handle = try scene.remote(Scene.stored).valueHandle
        scene.radio.withAir { air, _ in air[scene.peripheralPort.identifier].faults.isSilent = true }
        let first = Task { try await scene.connection.read(handle) }
        await until { await scene.central.pendingCount == 1 }
        let second = Task { try await scene.connection.discoverAll() }
        await until { await scene.central.pendingCount == 2 }
        await scene.radio.advance(by: .seconds(29))
        #expect(await scene.central.pendingCount == 2)
        let errors = try await scene.radio.passing {
            var errors: [BluetoothError] = []
            do { _ = try await first.value } catch let error as BluetoothError { errors.append(error) }
            do { _ = try await second.value } catch let error as BluetoothError { errors.append(error) }
            return errors
        }
        let allowed: [BluetoothError] = [.timedOut, .disconnected(.transactionTimeout)]
        #expect(errors.count == 2 && errors.allSatisfy(allowed.contains))
        let reason = try await scene.radio.passing { try await scene.connection.waitForDisconnection() }
        #expect(reason == .transactionTimeout)
    }

    @Test("Events report links in both roles, resets, and the close of the adapter")
    func events() async throws {
        let radio = VirtualRadio(time: .manual)
        let ports = [radio.addController(), radio.addController()]
        let central = try await Adapter.open(ports[0])
        let peripheral = try await Adapter.open(ports[1])
        let events = [central.events(), peripheral.events()]
        let address = try #require(peripheral.information?.address)
        try await radio.passing {
            try await peripheral.advertise(AdvertisementData())
            let connection = try await central.connect(to: address)
            try await connection.disconnect()
        }
        radio.withAir { air, _ in air.reportHardwareError(7, on: ports[0].identifier) }
        let seen = try await radio.passing { try await events[0].prefix(count: 4) }
        guard case .connected(let mine) = seen[0], case .disconnected(mine, .byThisDevice) = seen[1],
            case .resetting = seen[2], case .ready = seen[3]
        else {
            Issue.record("\(seen)")
            return
        }
        #expect(mine.role == .central)
        let theirs = try await radio.passing { try await events[1].prefix(count: 2) }
        guard case .connected(let link) = theirs[0], case .disconnected(link, .byPeer) = theirs[1] else {
            Issue.record("\(theirs)")
            return
        }
        #expect(link.role == .peripheral)
        await peripheral.close()
        #expect(await events[1].end() == .adapterClosed)
    }
}
