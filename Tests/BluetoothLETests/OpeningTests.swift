import AdapterTestSupport
import BluetoothBase
import HCITransport
import Testing
import VirtualRadio

@testable import BluetoothLE

@Suite("Opening an adapter", .timeLimit(.minutes(30)))
struct OpeningTests {
    @Test(
        "Opening fails with the error of a transport that cannot be opened",
        arguments: [
            ("unix-client:/nonexistent/socket", TransportError.Reason.connectionRefused),
            ("unix-client:@swift-bluetooth-le-nobody", .connectionRefused),
            ("tcp-client:127.0.0.1:1", .connectionRefused),
        ])
    func refused(_ name: String, _ reason: TransportError.Reason) async throws {
        let name = try TransportName(name)
        let error = await #expect(throws: BluetoothError.self) { _ = try await Adapter.open(name) }
        #expect(error?.code == .transport)
        let cause = try #require(error?.underlyingError as? TransportError)
        #expect(cause.reason == reason)
        #expect(cause.transport == name.description)
    }

    @Test("Opening fails before anything is sent if the capture file cannot be written")
    func captureRefused() async throws {
        let radio = VirtualRadio()
        let port = radio.addController()
        let options = AdapterOptions(captureFile: "/nonexistent/capture")
        await #expect(
            throws: BluetoothError.transport(
                TransportError(.captureNotWritable(code: 2), transport: "/nonexistent/capture"))
        ) {
            _ = try await Adapter.open(port, options: options)
        }
        _ = try await Adapter.open(port)
    }

    @Test("Cancelling the task ends the wait for a client", arguments: ["tcp-server:127.0.0.1:0", "unix-server:@"])
    func cancelled(_ text: String) async throws {
        // One for each attempt: the first is called off at once, and its thread may still be about to stop listening.
        func name() throws -> TransportName {
            try TransportName(
                text.hasSuffix("@") ? text + "swift-bluetooth-le-\(UInt64.random(in: .min ... .max))" : text)
        }
        let first = try name(), second = try name()
        let task = Task { try await Adapter.open(first) }
        task.cancel()
        await #expect(throws: BluetoothError.cancelled) { _ = try await task.value }
        await #expect(throws: BluetoothError.timedOut) {
            try await withTimeout(.milliseconds(1)) { () throws(BluetoothError) in
                _ = try await Adapter.open(second)
            }
        }
    }

    @Test("Cancelling the task ends the wait for a controller that does not answer")
    func cancelledWhileSilent() async throws {
        let name = TransportName.unixServer(path: "@swift-bluetooth-le-\(UInt64.random(in: .min ... .max))")
        // It takes a connection, into its queue, and never says anything.
        let listener = try TransportListener(name)
        defer { listener.close() }
        guard case .unixServer(let path) = name else { return }
        await #expect(throws: BluetoothError.timedOut) {
            try await withTimeout(.milliseconds(50)) { () throws(BluetoothError) in
                _ = try await Adapter.open(.unixClient(path: path))
            }
        }
    }

    @Test("Opening fails if the controller does not respond")
    func notResponding() async throws {
        let radio = VirtualRadio(time: .manual)
        let port = radio.addController()
        radio.withAir { air, _ in air[port.identifier].faults.ignoresCommands = true }
        await #expect(throws: BluetoothError.adapter(.controllerNotResponding(.reset))) {
            try await radio.passing { _ = try await Adapter.open(port) }
        }
    }

    @Test("Opening fails if the controller has no data buffers")
    func noBuffers() async throws {
        let radio = VirtualRadio()
        let port = radio.addController { $0.aclBufferCount = 0 }
        await #expect(throws: BluetoothError.adapter(.noDataBuffers)) { _ = try await Adapter.open(port) }
    }

    /// Faults that nobody should notice.
    static let gentle: HCIFaultRates = {
        var rates = HCIFaultRates.none
        rates.doubledAnswers = 0.5
        rates.lateAnswers = 0.5
        rates.answerDelay = .milliseconds(1)...(.milliseconds(5))
        rates.lateCompletions = 1
        rates.completionDelay = rates.answerDelay
        rates.latency = .milliseconds(1)
        return rates
    }()

    @Test("Adapters over sockets work like in-process ones, even with faults", arguments: [.none, gentle])
    func sockets(rates: HCIFaultRates) async throws {
        let radio = VirtualRadio()
        let controllers = [
            try SocketController(radio.addController()), try SocketController(radio.addController()),
        ]
        defer { for controller in controllers { controller.stop() } }
        var options = AdapterOptions(seed: 1)
        if rates != .none { options.faults = HCIFaults(rates, seed: 1) }
        let central = try await Adapter.open(controllers[0].name, options: options)
        let peripheral = try await Adapter.open(controllers[1].name, options: options)
        let service = try await peripheral.publish(Scene.definition)
        let stored = try #require(service[Scene.stored])
        try await peripheral.advertise(AdvertisementData(name: "Socket"))
        let address = try #require(peripheral.information?.address)
        let connection = try await central.connect(to: address)
        let found = try await connection.characteristic(Scene.stored, in: Scene.service)
        let value = [UInt8](repeating: 9, count: 512)
        try await connection.write(value, to: found)
        #expect(await stored.value == value)
        #expect(try await connection.read(found) == value)
        await peripheral.close()
        #expect(await failure { _ = try await stored.setValue([]) } == .adapterClosed)
        await central.close()
    }

    @Test("Without recovery, losing the controller ends every call with the transport's error")
    func controllerGone() async throws {
        let radio = VirtualRadio()
        let controller = try SocketController(radio.addController())
        var options = AdapterOptions()
        options.isRecovering = false
        let adapter = try await Adapter.open(controller.name, options: options)
        let events = adapter.events()
        let sightings = adapter.scan()
        let connecting = Task { _ = try await adapter.connect(to: DeviceAddress(1, kind: .public)) }
        await until { await adapter.pendingCount == 1 }
        controller.stop()
        let gone = BluetoothError.transport(TransportError(.closedByPeer, transport: controller.name.description))
        await #expect(throws: gone) { try await connecting.value }
        #expect(await events.end() == gone)
        #expect(await sightings.end() == gone)
        #expect(await failure { _ = try await adapter.scan().first() } == gone)
    }

    private func failure(of call: () async throws -> Void) async -> BluetoothError? {
        do { try await call() } catch { return error as? BluetoothError }
        return nil
    }
}
