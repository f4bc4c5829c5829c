import BluetoothBase
import HCITransport
import Synchronization
import Testing
import VirtualRadio

@testable import BluetoothAdapter
@testable import BluetoothLE

@Suite("Recovering a lost controller", .timeLimit(.minutes(30)))
struct ReturnTests {
    static func failure(_ name: TransportName, _ reason: TransportError.Reason) -> BluetoothError {
        .transport(TransportError(reason, transport: name.description))
    }

    @Test("An adapter retries a controller's socket until the controller answers")
    func socket() async throws {
        let radio = VirtualRadio()
        let port = radio.addController()
        let path = SocketController.makePath()
        let first = try SocketController(port, path: path)
        let adapter = try await Adapter.open(first.name)
        _ = try await adapter.publish(Scene.definition)
        try await adapter.advertise(AdvertisementData(name: "Phoenix"))
        let events = adapter.events()
        let sightings = adapter.scan()
        let connecting = Task { _ = try await adapter.connect(to: DeviceAddress(1, kind: .public)) }
        await until { await adapter.pendingCount == 1 }
        first.stop()
        await #expect(throws: BluetoothError.adapterRemoved) { try await connecting.value }
        #expect(await sightings.end() == .adapterRemoved)
        guard case .removed(Self.failure(first.name, .closedByPeer)) = try await events.first() else {
            Issue.record("not removed")
            return
        }
        await #expect(throws: BluetoothError.adapterRemoved) { _ = try await adapter.scan().first() }

        // The first one may still be about to let go of the path.
        var second: SocketController?
        await until {
            second = try? SocketController(port, path: path)
            return second != nil
        }
        guard case .ready = try await events.first() else {
            Issue.record("not ready")
            return
        }
        await until { radio.withAir { air, _ in air[port.identifier].isAdvertising } }
        let central = try await Adapter.open(radio.addController())
        let address = try #require(adapter.information?.address)
        let connection = try await central.connect(to: address)
        let stored = try await connection.characteristic(Scene.stored, in: Scene.service)
        #expect(try await connection.read(stored) == [1, 2, 3])
        second?.stop()
    }

    @Test("A stream with malformed HCI packets is closed and reopened")
    func malformedStream() async throws {
        let radio = VirtualRadio()
        let controller = try SocketController(radio.addController())
        defer { controller.stop() }
        let adapter = try await Adapter.open(controller.name)
        let events = adapter.events()
        controller.say([0x09, 0x09])
        guard case .removed(let error) = try await events.first() else {
            Issue.record("not removed")
            return
        }
        let cause = try #require(error.underlyingError as? TransportError)
        #expect(cause.reason == .malformedStream(.unexpectedIndicator(0x09)))
        guard case .ready = try await events.first() else {
            Issue.record("not ready")
            return
        }
    }

    /// An adapter of a kernel, in a time that is turned by hand.
    struct Setting {
        let radio = VirtualRadio()
        let clock = ManualClock()
        let kernel: FakeKernel
        let controller: SocketController
        let port: VirtualRadio.Port
        let adapter: Adapter

        static let asked = TransportName.hciSocket(.index(0))
        static let named = TransportName.hciSocket(.address(DeviceAddress(0x00_1B_DC_00_00_01, kind: .public)))

        init(tellsOfArrivals: Bool = true) async throws {
            port = radio.addController()
            let controller = try SocketController(port)
            self.controller = controller
            let kernel = FakeKernel(Self.named, tellsOfArrivals: tellsOfArrivals)
            self.kernel = kernel
            kernel.plugIn(controller.name)
            adapter = try await Adapter.open(Self.asked, calls: kernel.calls, clock: clock)
        }

        func unplug() async {
            kernel.unplug()
            controller.stop()
            await until { adapter.information == nil }
        }

        /// Lets the next try take place; false where none is due.
        func tryOnce() async -> Bool {
            guard let due = adapter.nextTry else { return false }
            clock.advance(to: due)
            adapter.router.runner.wake()
            await until { adapter.nextTry != due && !adapter.isTrying }
            return true
        }
    }

    @Test("A kernel adapter is reopened by its address, and awaited without polling")
    func kernel() async throws {
        let setting = try await Setting()
        let (adapter, kernel) = (setting.adapter, setting.kernel)
        let events = adapter.events()
        await setting.unplug()
        guard case .removed = try await events.first() else {
            Issue.record("not removed")
            return
        }
        for round in 1...3 {
            var tries = 0
            while await setting.tryOnce() { tries += 1 }
            #expect(tries == Reopening.triesPerArrival)
            #expect(kernel.asked.count == 1 + round * Reopening.triesPerArrival)
            #expect(kernel.asked.dropFirst().allSatisfy { $0 == Setting.named })
            let (descriptor, deadline) = adapter.router.runner.guarded.withTurn {
                ($0.wish.fileDescriptor, $0.nextDeadline)
            }
            #expect(descriptor != nil, "it waits for arrivals,")
            #expect(deadline == nil, "and for nothing else")
            if round < 3 { kernel.announce() }
            if round < 3 { await until { adapter.nextTry != nil } }
        }
        let again = try SocketController(setting.port)
        defer { again.stop() }
        kernel.plugIn(again.name)
        await until { adapter.nextTry != nil }
        #expect(await setting.tryOnce())
        guard case .ready = try await events.first() else {
            Issue.record("not ready")
            return
        }
        #expect(
            adapter.router.runner.guarded.withTurn { $0.recovery.arrivals == nil }, "nothing is listened for any more")
        #expect(adapter.information != nil)
    }

    @Test("An adapter that another program holds is reopened when it is released")
    func held() async throws {
        let setting = try await Setting()
        await setting.unplug()
        while await setting.tryOnce() {}
        let again = try SocketController(setting.port)
        defer { again.stop() }
        setting.kernel.plugIn(again.name, behind: .adapterHeld(by: nil))
        await until { setting.adapter.nextTry != nil }
        for _ in 0..<5 { #expect(await setting.tryOnce()) }
        #expect(setting.adapter.information == nil)
        setting.kernel.clear()
        #expect(await setting.tryOnce())
        await until { setting.adapter.information != nil }
    }

    @Test("Without arrival events, reopening is retried indefinitely")
    func notTold() async throws {
        let setting = try await Setting(tellsOfArrivals: false)
        await setting.unplug()
        for _ in 0..<30 { #expect(await setting.tryOnce()) }
        let again = try SocketController(setting.port)
        defer { again.stop() }
        setting.kernel.plugIn(again.name)
        #expect(await setting.tryOnce())
        await until { setting.adapter.information != nil }
    }

    @Test("Closing cancels a reopening in progress, and calls fail immediately meanwhile")
    func closedWhileOpening() async throws {
        let setting = try await Setting()
        let opened = Atomic(false), isOpening = Atomic(false), isCalledOff = Atomic(false)
        let kernel = setting.kernel
        let calls = TransportCalls(
            open: { (name, cancellation) throws(TransportError) in
                if opened.exchange(true, ordering: .relaxed) {
                    isOpening.store(true, ordering: .relaxed)
                } else {
                    return try kernel.calls.open(name, cancellation)
                }
                // Nobody ever connects to this: only the cancellation ends it.
                let path = SocketController.makePath()
                defer { isCalledOff.store(true, ordering: .relaxed) }
                return try TransportName.unixServer(path: path).open(cancellation: cancellation)
            }, watchArrivals: { _ in nil })
        let clock = ManualClock()
        let again = try SocketController(setting.radio.addController())
        defer { again.stop() }
        kernel.plugIn(again.name)
        let adapter = try await Adapter.open(Setting.asked, calls: calls, clock: clock)
        again.stop()
        await until { adapter.information == nil }
        let due = try #require(adapter.nextTry)
        clock.advance(to: due)
        adapter.router.runner.wake()
        await until { isOpening.load(ordering: .relaxed) }
        await #expect(throws: BluetoothError.adapterRemoved) { _ = try await adapter.scan().first() }
        await adapter.close()
        await until { isCalledOff.load(ordering: .relaxed) }
        await #expect(throws: BluetoothError.adapterClosed) { _ = try await adapter.scan().first() }
        await setting.adapter.close()
        setting.controller.stop()
    }
}
