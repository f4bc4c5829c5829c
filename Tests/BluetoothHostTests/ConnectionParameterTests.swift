import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothL2CAP
import BluetoothSimulation
import TestSupport
import Testing
import VirtualRadio

@Suite("Connection parameters")
struct ConnectionParameterTests {
    static let slow = ConnectionParameters(intervalMin: 80, intervalMax: 80, latency: 0, timeout: 400)

    @Test("Either role can change the parameters, and both devices report the change", arguments: [true, false])
    func eitherRoleChangesThem(_ byCentral: Bool) throws {
        var world = HostWorld()
        let peripheral = world.start(), central = world.start()
        let connected = world.connect(central, to: peripheral)
        let pair = try #require(connected)
        world.run(for: .seconds(1))
        for index in [central, peripheral] { world.seen[index].removeAll() }
        let (asking, link) = byCentral ? (central, pair.centralLink) : (peripheral, pair.peripheralLink)
        _ = try world.hosts[asking].updateParameters(Self.slow, of: link, at: world.now)
        #expect(throws: HostError.busy) {
            _ = try world.hosts[asking].updateParameters(Self.slow, of: link, at: world.now)
        }
        world.run(for: .seconds(2))
        for index in [central, peripheral] {
            let expected = ["parameters 0.1 seconds"] + (index == asking ? ["request completed"] : [])
            #expect(world.seen[index].map(\.event.brief) == expected)
        }
        #expect(world.hosts[central].information(of: pair.centralLink)?.parameters.interval == .milliseconds(100))
    }

    @Test("A central can refuse a peripheral's request") func aCentralMayRefuse() throws {
        var world = HostWorld()
        let peripheral = world.start()
        let central = world.start(host: { $0.acceptableParameters.intervals = 6...40 })
        let connected = world.connect(central, to: peripheral)
        let pair = try #require(connected)
        world.run(for: .seconds(1))
        world.seen[peripheral].removeAll()
        _ = try world.hosts[peripheral].updateParameters(Self.slow, of: pair.peripheralLink, at: world.now)
        world.run(for: .seconds(2))
        #expect(world.seen[peripheral].map(\.event.brief) == ["request failed: \(HostError.refusedByPeer)"])
    }

    @Test("Invalid parameters throw invalidParameters") func invalidOnesAreRefused() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        #expect(throws: HostError.invalidParameters) {
            _ = try controller.host.updateParameters(
                ConnectionParameters(intervalMin: 100, intervalMax: 80, latency: 0, timeout: 10), of: link,
                at: controller.now)
        }
    }

    static let updated = LEConnectionUpdateComplete(
        connectionHandle: 0x40, interval: ConnectionInterval(rawValue: 80),
        supervisionTimeout: SupervisionTimeout(rawValue: 400))

    @Test("An update completes even if its report arrives before the command status")
    func theReportMayComeBeforeTheCommandStatus() throws {
        var controller = ScriptedController.ready([.leConnectionUpdate: .silence])
        let link = try controller.connect()
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.settle()
        controller.receive(Self.updated)
        controller.receive(CommandStatus(status: .success, numHCICommandPackets: 1, opcode: .leConnectionUpdate))
        #expect(controller.takeEvents() == ["parameters 0.1 seconds", "request completed"])
    }

    @Test("A refused or failed update is reported with the controller's status")
    func aRefusalOfTheControllerIsTold() throws {
        var controller = ScriptedController.ready([.leConnectionUpdate: .status(.commandDisallowed)])
        let link = try controller.connect()
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["request failed: \(HostError.controller(.commandDisallowed))"])
        controller.answers[.leConnectionUpdate] = .status(.success)
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.settle()
        var failure = Self.updated
        failure.status = .unsupportedRemoteFeature
        controller.receive(failure)
        #expect(controller.takeEvents() == ["request failed: \(HostError.controller(.unsupportedRemoteFeature))"])
    }

    /// Answers of a central to the request of a peripheral, and what the caller hears within a minute.
    @Test(
        "A peripheral's request that leads to no update ends with a refusal or a timeout",
        arguments: [
            (bytes("13 01 0200 0000"), "timed out"),
            (bytes("13 01 0200 0100"), "\(HostError.refusedByPeer)"),
            (bytes("01 01 0200 0000"), "\(HostError.refusedByPeer)"),
            (bytes("13 01 0200 0200"), "\(HostError.refusedByPeer)"),
            (bytes("13 02 0200 0100"), "timed out"),
            (bytes("13 01 0100 00"), "timed out"),
        ])
    func theRequestOfAPeripheralAlwaysEnds(_ answer: [UInt8], _ end: String) throws {
        var controller = ScriptedController.ready()
        let link = try controller.accept(0x40)
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.settle()
        #expect(controller.takeData() == [bytes("4000 1000 0C00 0500 12 01 0800 5000 5000 0000 9001")])
        controller.receiveFrame(answer, on: 0x05)
        controller.run(for: .seconds(60))
        #expect(controller.takeEvents() == ["request failed: \(end)"])
    }

    @Test("GAP/CONN/CPUP/BV-02: a request that the central does not answer ends after 30 seconds, and the link goes on")
    func noAnswer() throws {
        var controller = ScriptedController.ready()
        let link = try controller.accept(0x40)
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.settle()
        #expect(controller.takeData() == [bytes("4000 1000 0C00 0500 12 01 0800 5000 5000 0000 9001")])
        controller.run(for: .milliseconds(29_999))
        #expect(controller.takeEvents() == [])
        controller.run(for: .milliseconds(1))
        #expect(controller.takeEvents() == ["request failed: timed out"])
        controller.run(for: .seconds(30))
        #expect(controller.host.connectedLinks == [link])
    }

    /// A controller has nothing to tell where nothing changes (Vol 4, Part E, 7.7.65.3).
    @Test(
        "A request that the current parameters already meet completes with the answer",
        arguments: [
            // The link has an interval of 30 ms, no latency, and a timeout of 4 s.
            (ConnectionParameters(intervalMin: 24, intervalMax: 24, latency: 0, timeout: 400), "request completed"),
            (ConnectionParameters(intervalMin: 6, intervalMax: 40, latency: 0, timeout: 400), "request completed"),
            (ConnectionParameters(intervalMin: 6, intervalMax: 23, latency: 0, timeout: 400), nil),
            (ConnectionParameters(intervalMin: 25, intervalMax: 40, latency: 0, timeout: 400), nil),
            (ConnectionParameters(intervalMin: 24, intervalMax: 24, latency: 1, timeout: 400), nil),
            (ConnectionParameters(intervalMin: 24, intervalMax: 24, latency: 0, timeout: 401), nil),
        ])
    func nothingToChange(_ parameters: ConnectionParameters, _ end: String?) throws {
        var controller = ScriptedController.ready()
        let link = try controller.accept(0x40)
        _ = try controller.host.updateParameters(parameters, of: link, at: controller.now)
        controller.settle()
        controller.receiveFrame([0x13, 1, 2, 0, 0, 0], on: 0x05)
        #expect(controller.takeEvents() == (end.map { [$0] } ?? []))
    }

    @Test("A central's update times out if no report arrives, and the next update can complete")
    func aCentralThatHearsNothingOfItsUpdateGivesUp() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receiveFrame([0x03, 23, 0])
        controller.seen.removeAll()
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.run(for: .seconds(60))
        #expect(controller.takeEvents() == ["request failed: timed out"])
        _ = try controller.host.updateParameters(Self.slow, of: link, at: controller.now)
        controller.receive(Self.updated)
        #expect(controller.takeEvents() == ["parameters 0.1 seconds", "request completed"])
    }

    @Test(
        "L6, L8, GAP/CONN/CPUP/BV-04, BV-05: a central's answers to signalling over L2CAP",
        arguments: [
            (bytes("12 01 0800 5000 5000 0000 9001"), bytes("13 01 0200 0000"), [HCIOpcode.leConnectionUpdate]),
            (bytes("12 01 0800 6400 5000 0000 0A00"), bytes("13 01 0200 0100"), []),
            (bytes("55 01 0000"), bytes("01 01 0200 0000"), []),
            (bytes("02 01 0400 0100 4000"), bytes("01 01 0200 0000"), []),
            (bytes("06 01 0400 0400 0400"), bytes("01 01 0600 0200 0400 0400"), []),
            (bytes("13 01 0200 0000"), [], []),
        ])
    func signalling(_ request: [UInt8], _ answer: [UInt8], _ commands: [HCIOpcode]) throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receiveFrame(request, on: 0x05)
        #expect(controller.takeData().map { Array($0[8...]) } == (answer.isEmpty ? [] : [answer]))
        let parameters = controller.commands.map(\.parameters)
        #expect(controller.takeOpcodes() == commands)
        // A central that agrees changes the parameters, and only then.
        if !commands.isEmpty {
            #expect(parameters == [bytes("4000 5000 5000 0000 9001 0000 0000")])
            _ = controller.takeEvents()
            controller.receive(Self.updated)
            #expect(controller.takeEvents() == ["parameters 0.1 seconds"])
        }
        let interval = controller.host.information(of: link)?.parameters.interval
        #expect(interval == .milliseconds(commands.isEmpty ? 30 : 100))
    }

    @Test("L8: a peripheral rejects a connection parameter update request")
    func peripheralRejects() throws {
        var controller = ScriptedController.ready()
        _ = try controller.accept(0x40)
        controller.receiveFrame(bytes("12 01 0800 5000 5000 0000 9001"), on: 0x05)
        #expect(controller.takeData().map { Array($0[8...]) } == [bytes("01 01 0200 0000")])
    }

    @Test(
        "GAP/CONN/CPUP/BV-08: a peer's request over the link layer is granted if its parameters are in range",
        arguments: [
            (UInt16(80), HCIOpcode.leRemoteConnectionParameterRequestReply),
            (5, .leRemoteConnectionParameterRequestNegativeReply),
        ], LinkRole.allCases)
    func theLinkLayerAsksToo(_ asked: (interval: UInt16, answer: HCIOpcode), _ role: LinkRole) throws {
        let (interval, answer) = asked
        var controller = ScriptedController.ready()
        if role == .central { _ = try controller.connect() } else { _ = try controller.accept(0x40) }
        controller.receive(
            LERemoteConnectionParameterRequest(
                connectionHandle: 0x40, intervalMin: ConnectionInterval(rawValue: interval),
                intervalMax: ConnectionInterval(rawValue: interval),
                supervisionTimeout: SupervisionTimeout(rawValue: 400)))
        let parameters = controller.commands.map(\.parameters)
        #expect(controller.takeOpcodes() == [answer])
        guard answer == .leRemoteConnectionParameterRequestReply else { return }
        #expect(parameters == [bytes("4000 5000 5000 0000 9001 0000 0000")])
        _ = controller.takeEvents()
        controller.receive(Self.updated)
        #expect(controller.takeEvents() == ["parameters 0.1 seconds"])
    }
}
