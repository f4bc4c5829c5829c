import BluetoothAdapter
import BluetoothLE
import Testing
import VirtualRadio

@testable import CoreBluetooth

@Suite("D: connections", .timeLimit(.minutes(30)))
struct ConnectionTests {
    @Test("Row 28: an attempt continues until the peripheral appears, however often connect is called")
    func patience() async throws {
        let scene = try await CentralScene(time: .manual)
        let peripheral = try await scene.stage.passing { try await scene.found() }
        await scene.silence()
        for _ in 0..<3 { scene.manager.connect(peripheral) }
        #expect(peripheral.state == .connecting)
        let count = scene.recorder.all.count
        for _ in 0..<60 { await scene.stage.radio.advance(by: .seconds(60)) }
        #expect(peripheral.state == .connecting && scene.recorder.all.count == count)
        try await scene.stage.passing {
            try await scene.peripheral.advertise(CentralScene.advertisement)
            await scene.recorder.expect("connected connected")
        }
    }

    @Test("Row 29: when a callback reports a state, the object has already reached it")
    func states() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        #expect(peripheral.state == .disconnected)
        // On the manager's queue, where nothing else is told meanwhile.
        let whileConnecting = await scene.recorder.onQueue {
            scene.manager.connect(peripheral)
            return peripheral.state
        }
        #expect(whileConnecting == .connecting)
        await scene.recorder.skip(to: "connected connected")
        let whileCancelling = await scene.recorder.onQueue {
            scene.manager.cancelPeripheralConnection(peripheral)
            return peripheral.state
        }
        #expect(whileCancelling == .disconnecting)
        await scene.recorder.expect("disconnected disconnected -")
    }

    @Test("Row 31: cancelling also ends an attempt, without an error")
    func cancelAttempt() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        await scene.silence()
        scene.manager.connect(peripheral)
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected disconnected -")
        // The attempt is over: nothing comes of it when the peripheral is back.
        try await scene.peripheral.advertise(CentralScene.advertisement)
        scene.manager.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        for _ in 0..<3 { await scene.recorder.expect("discovered Scene") }
        #expect(peripheral.state == .disconnected)
        #expect(scene.peripheral.connections.isEmpty)
    }

    @Test("Row 31: connecting right after cancelling an attempt starts again")
    func cancelAndConnectAttempt() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        await scene.silence()
        scene.manager.connect(peripheral)
        for round in 0..<30 {
            // Not in step with the controller, nor always ahead of it.
            if round.isMultiple(of: 3) {
                await until("an attempt is under way") {
                    scene.stage.radio.withAir { air, _ in air[scene.near.identifier].isInitiating }
                }
            }
            scene.manager.cancelPeripheralConnection(peripheral)
            scene.manager.connect(peripheral)
            #expect(peripheral.state == .connecting)
        }
        try await scene.peripheral.advertise(CentralScene.advertisement)
        await scene.recorder.skip(to: "connected connected")
        // How far things are by then differs; each end is told, and none is an error.
        let ends = scene.recorder.all.filter { $0.hasPrefix("disconnected") }
        #expect(ends.count == 30 && ends.allSatisfy { $0.hasSuffix(" -") })
        #expect(scene.recorder.all.count { $0.hasPrefix("connected") } == 1)
    }

    @Test("Row 31: connecting right after cancelling a connection starts again")
    func cancelAndConnect() async throws {
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let characteristic = try #require(characteristics[CentralScene.notified])
        peripheral.setNotifyValue(true, for: characteristic)
        await scene.recorder.skip(to: "notifying F003 true -")
        // On the queue, so that nothing is told in between.
        await scene.recorder.onQueue {
            scene.manager.cancelPeripheralConnection(peripheral)
            scene.manager.connect(peripheral)
        }
        // Row 36: what was discovered is over.
        #expect(peripheral.services == nil && !characteristic.isNotifying)
        await scene.recorder.expect("disconnected connecting -", "connected connected")
        #expect(peripheral.services == nil)
        peripheral.discoverServices([CentralScene.service])
        await scene.recorder.skip(to: "services -")
        #expect(peripheral.services?.count == 1)
    }

    @Test("Row 31: an attempt of two managers continues, or starts again, when one of them cancels")
    func cancelOfTwo() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        let (other, others) = await scene.other()
        let same = try #require(other.retrievePeripherals(withIdentifiers: [peripheral.identifier]).first)
        await scene.silence()
        for _ in 0..<10 {
            scene.manager.connect(peripheral)
            other.connect(same)
            scene.manager.cancelPeripheralConnection(peripheral)
            await scene.recorder.skip(to: "disconnected disconnected -")
            scene.manager.connect(peripheral)
            other.cancelPeripheralConnection(same)
            await others.recorder.skip(to: "disconnected disconnected -")
            scene.manager.cancelPeripheralConnection(peripheral)
            other.connect(same)
            await scene.recorder.skip(to: "disconnected disconnected -")
            other.cancelPeripheralConnection(same)
            await others.recorder.skip(to: "disconnected disconnected -")
        }
        other.connect(same)
        try await scene.peripheral.advertise(CentralScene.advertisement)
        await others.recorder.skip(to: "connected connected")
    }

    @Test("Row 32: an unexpected disconnection reports its cause")
    func byPeer() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        await until("the link is there") { !scene.peripheral.connections.isEmpty }
        try await scene.peripheral.connections.first?.disconnect()
        await scene.recorder.skip(to: "disconnected disconnected CB 7")
        #expect(peripheral.state == .disconnected)
    }

    @Test("Row 32: a peripheral that goes out of range times out")
    func outOfRange() async throws {
        let scene = try await CentralScene(time: .manual)
        let peripheral = try await scene.stage.passing { try await scene.connected() }
        scene.stage.radio.setPathLoss(between: scene.near, and: scene.far, to: 200)
        await scene.stage.passing { _ = await scene.recorder.skip(to: "disconnected disconnected CB 6") }
        #expect(peripheral.state == .disconnected)
    }

    @Test("Row 33: an attempt fails when all its retries have failed; a new attempt succeeds")
    func failing() async throws {
        let scene = try await CentralScene(time: .manual)
        let peripheral = try await scene.stage.passing { try await scene.found() }
        let tries = HostConfiguration(seed: 1).establishmentRetries + 1
        scene.stage.radio.withAir { air, _ in air[scene.near.identifier].faults.failingConnections = tries }
        scene.manager.connect(peripheral)
        await scene.stage.passing { _ = await scene.recorder.skip(to: "failed CB 10") }
        #expect(peripheral.state == .disconnected)
        scene.manager.connect(peripheral)
        await scene.stage.passing { await scene.recorder.expect("connected connected") }
    }

    @Test("Row 33: a connection beyond the controller's limit fails")
    func limit() async throws {
        let scene = try await CentralScene(maximumConnections: 0)
        let peripheral = try await scene.found()
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "failed CB 11")
        #expect(peripheral.state == .disconnected)
    }

    @Test("Row 34: the short form of `didDisconnect` is called if the long form is not implemented")
    func shortForm() async throws {
        final class Short: NSObject, CBCentralManagerDelegate {
            let recorder = Recorder()
            func centralManagerDidUpdateState(_ central: CBCentralManager) {}
            func centralManager(
                _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
            ) { recorder.add("short \(error.line)") }
        }
        let scene = try await CentralScene()
        let peripheral = try await scene.connected()
        let short = Short()
        scene.manager.delegate = short
        scene.manager.cancelPeripheralConnection(peripheral)
        await short.recorder.expect("short -")
    }

    @Test("Row 35: a connection with auto-reconnect is made again until it is cancelled")
    func reconnect() async throws {
        let scene = try await CentralScene()
        let options = [CBConnectPeripheralOptionEnableAutoReconnect: true]
        let (peripheral, characteristics) = try await scene.discovered(options: options)
        for _ in 0..<2 {
            await until("the link is there") { !scene.peripheral.connections.isEmpty }
            try await scene.peripheral.connections.first?.disconnect()
            await scene.recorder.skip(to: "disconnected connecting reconnecting CB 7")
            await scene.recorder.skip(to: "connected connected")
        }
        // Row 36: what was discovered is kept.
        let characteristic = try #require(characteristics[CentralScene.stored])
        #expect(peripheral.services?.first?.characteristics?.contains(characteristic) == true)
        peripheral.readValue(for: characteristic)
        await scene.recorder.skip(to: "value F001 010203 -")
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected disconnected -")
    }

    @Test("Row 35: writes pending on the lost connection do not block the next one")
    func reconnectAfterwards() async throws {
        let scene = try await CentralScene()
        let options = [CBConnectPeripheralOptionEnableAutoReconnect: true]
        let (peripheral, characteristics) = try await scene.discovered(options: options)
        let stored = try #require(characteristics[CentralScene.stored])
        await until("the link is there") { !scene.peripheral.connections.isEmpty }
        for _ in 0..<200 { peripheral.writeValue(Data([1]), for: stored, type: .withoutResponse) }
        scene.stage.radio.withAir { air, now in
            // The first two tries are not heard.
            air[scene.near.identifier].faults.failingConnections = 2
            air.dropLinks(of: scene.far.identifier, reason: .connectionTimeout, at: now)
        }
        await scene.recorder.skip(to: "disconnected connecting reconnecting CB 6")
        await scene.recorder.skip(to: "connected connected")
        #expect(peripheral.canSendWriteWithoutResponse)
        peripheral.writeValue(Data([7]), for: stored, type: .withoutResponse)
        peripheral.readValue(for: stored)
        await scene.recorder.skip(to: "value F001 07 -")
    }

    @Test("Row 36: after a disconnection a peripheral reports nothing, and its discovered objects are invalid")
    func afterwards() async throws {
        let log = Log()
        let scene = try await CentralScene()
        let (peripheral, characteristics) = try await scene.discovered()
        let characteristic = try #require(characteristics[CentralScene.dynamic])
        for _ in 0..<10 { peripheral.readValue(for: characteristic) }
        scene.manager.cancelPeripheralConnection(peripheral)
        let line = await scene.recorder.next()
        #expect(line == "disconnected disconnected -")
        #expect(peripheral.services == nil)
        peripheral.readValue(for: characteristic)
        #expect(log.contains("API MISUSE: \(peripheral) can only read a value while it is connected"))
        scene.manager.connect(peripheral)
        await scene.recorder.expect("connected connected")
        // Row 63: an object of an earlier connection is not known any more.
        peripheral.readValue(for: characteristic)
        #expect(log.contains("is not known to \(peripheral)"))
    }

    @Test("Row 38: the ATT_MTU is exchanged automatically")
    func mtu() async throws {
        let scene = try await CentralScene(mtu: 185)
        let peripheral = try await scene.found()
        #expect(peripheral.maximumWriteValueLength(for: .withoutResponse) == 20)
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "connected")
        await until("it is exchanged") { peripheral.maximumWriteValueLength(for: .withoutResponse) == 182 }
        #expect(peripheral.maximumWriteValueLength(for: .withResponse) == 512)
    }

    @Test("Row 39: a manager registered for connection events receives those of other managers' links")
    func connectionEvents() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        let (other, others) = await scene.other()
        other.registerForConnectionEvents(options: [.serviceUUIDs: [CentralScene.service]])
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "connected")
        await others.recorder.expect("event peerConnected")
        scene.manager.cancelPeripheralConnection(peripheral)
        await others.recorder.expect("event peerDisconnected")
    }

    @Test("Row 40: a connection can be delayed, and cancelled before it starts")
    func startDelay() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        scene.manager.connect(peripheral, options: [CBConnectPeripheralOptionStartDelayKey: 0.2])
        await scene.recorder.skip(to: "connected connected")
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected disconnected -")
        // One that has not begun can be cancelled as well.
        scene.manager.connect(peripheral, options: [CBConnectPeripheralOptionStartDelayKey: 100])
        #expect(peripheral.state == .connecting)
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected disconnected -")
    }

    /// How the adapter of an app ends.
    enum Ending: CaseIterable {
        case managerReleased, poweredOff
    }

    @Test("Row 32: a peripheral whose adapter closes disconnects within 100 ms", arguments: Ending.allCases)
    func adapterCloses(_ ending: Ending) async throws {
        let scene = try await CentralScene(time: .manual)
        let port = scene.stage.radio.addController()
        let app = PeripheralRecorder(Recorder("app"))
        var manager: CBPeripheralManager? = scene.stage.with(port) {
            CBPeripheralManager(delegate: app, queue: app.recorder.queue)
        }
        await scene.stage.passing {
            await app.recorder.expect("state poweredOn")
            await scene.silence()
        }
        let service = CBMutableService(CentralScene.serviceText, [])
        manager?.add(service)
        manager?.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [CentralScene.service]])
        let peripheral = try await scene.connected()
        #expect(peripheral.state == .connected)
        // Until then the central has not subscribed to Service Changed, which is indicated when the manager's service
        // goes.
        await scene.stage.radio.advance(by: .seconds(3))
        let transport = BluetoothTransport(port)
        let runner = try #require(AdapterSimulation.runner(at: transport))
        switch ending {
        case .managerReleased:
            manager = nil
            await until("the adapter is closed") { runner.isClosed }
        case .poweredOff: await AdapterSimulation.setPower(false, at: transport)
        }
        #expect(runner.isClosed && !runner.isReleased)
        await scene.stage.radio.advance(by: .milliseconds(100))
        #expect(runner.isReleased)
        if ending == .managerReleased { await scene.recorder.expect("modified ") }
        await scene.recorder.expect("disconnected disconnected CB 7")
        withExtendedLifetime(manager) {}
    }
}
