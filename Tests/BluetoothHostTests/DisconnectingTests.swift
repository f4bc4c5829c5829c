import BluetoothATT
import BluetoothBase
import BluetoothGATT
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import Testing
import VirtualRadio

@Suite("Disconnecting")
struct DisconnectingTests {
    @Test("Repeated calls to disconnect send one command, and the end of the link is reported once")
    func aLinkIsEndedOnceHoweverOftenThatIsAskedFor() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        try controller.host.disconnect(link, at: controller.now)
        try controller.host.disconnect(link, at: controller.now)
        controller.settle()
        #expect(controller.commands == [.init(opcode: .disconnect, parameters: [0x40, 0, 0x13])])
        controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        #expect(controller.takeEvents() == ["disconnected link 0.1: 22"])
        #expect(throws: HostError.noSuchLink) { try controller.host.disconnect(link, at: controller.now) }
    }

    @Test("The identifier of an ended link does not reach the next link in its slot")
    func nextLinkInTheSamePlace() throws {
        var controller = ScriptedController.ready()
        let first = try controller.connect()
        controller.reportDisconnection()
        let second = try controller.connect(0x41)
        #expect(first.slot == second.slot && first != second)
        _ = (controller.takeOpcodes(), controller.takeData())
        #expect(throws: HostError.noSuchLink) { try controller.host.disconnect(first, at: controller.now) }
        #expect(throws: HostError.noSuchLink) {
            try controller.host.writeWithoutResponse([1].span, to: 0x0010, on: first)
        }
        #expect(controller.host.information(of: first) == nil)
        controller.settle()
        #expect(controller.takeOpcodes() == [] && controller.takeData() == [])
    }

    @Test("If the controller does not report the end of a link within 9 s, the host does")
    func anEndThatIsNeverReportedIsTakenForGranted() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        try controller.host.disconnect(link, at: controller.now)
        controller.run(for: .milliseconds(8999))
        #expect(controller.takeEvents() == [])
        controller.run(for: .milliseconds(1))
        #expect(controller.takeEvents() == ["disconnected link 0.1: 22"])
        #expect(controller.host.nextDeadline == nil)
    }

    @Test("A link that the controller does not know ends at once when the host disconnects it")
    func aLinkTheControllerDoesNotHaveIsGoneAtOnce() throws {
        var controller = ScriptedController.ready([.disconnect: .status(.unknownConnectionIdentifier)])
        let link = try controller.connect()
        try controller.host.disconnect(link, at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["disconnected link 0.1: 22"])
    }

    @Test("A host that shuts down disconnects its links first, and rejects peers that connect meanwhile")
    func shutDown() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        try controller.host.startAdvertising(AdvertisingParameters(data: []), at: controller.now)
        controller.settle()
        _ = (controller.takeOpcodes(), controller.takeEvents())
        for _ in 0..<2 {
            controller.host.shutDown(at: controller.now)
            controller.settle()
        }
        #expect(controller.takeOpcodes() == [.disconnect, .leSetAdvertisingEnable])
        controller.reportConnection(0x41, role: .peripheral)
        controller.host.shutDown(at: controller.now)
        controller.settle()
        #expect(controller.takeOpcodes() == [.disconnect])
        // Requests of the peer get no answer any more.
        controller.receiveFrame([0x0A, 0x03, 0x00])
        #expect(controller.takeData() == [])
        controller.reportDisconnection(0x40, .connectionTerminatedByLocalHost)
        #expect(!controller.host.isShutDown)
        controller.reportDisconnection(0x41, .connectionTerminatedByLocalHost)
        #expect(controller.host.isShutDown)
        #expect(controller.takeEvents() == ["disconnected link 0.1: 22"])
    }

    @Test("A Disconnection Complete event with an error status does not end the link")
    func aDisconnectionThatFailedIsNone() throws {
        var controller = ScriptedController.ready()
        _ = try controller.connect()
        controller.receive(
            DisconnectionComplete(
                status: .unspecifiedError, connectionHandle: 0x40, reason: .connectionTerminatedByLocalHost))
        #expect(controller.takeEvents() == [])
        #expect(controller.host.connectedLinks.count == 1)
    }

    @Test("H9: everything pending on a link ends once, before the link does")
    func pendingCalls() throws {
        var controller = ScriptedController.ready()
        let link = try controller.connect()
        controller.receiveFrame([0x03, 23, 0])
        controller.seen.removeAll()
        for _ in 1...3 {
            _ = try controller.host.start(.discoverAll(includes: true), on: link, at: controller.now)
        }
        _ = try controller.host.start(.writeLong(3, [UInt8](repeating: 1, count: 400)), on: link, at: controller.now)
        _ = try controller.host.updateParameters(
            controller.host.configuration.connectionParameters, of: link, at: controller.now)
        controller.settle()
        controller.reportDisconnection()
        controller.run(for: .seconds(60))
        #expect(
            controller.takeEvents() == ["request failed: \(HostError.noSuchLink)"]
                + [String](repeating: "operation failed: disconnected", count: 4) + ["disconnected link 0.1: 8"])
    }

    @Test("Link identifiers are not reused, and calls with the identifier of an ended link throw")
    func identifiersAreNeverUsedAgain() throws {
        var controller = ScriptedController.ready()
        var links: Set<LinkIdentifier> = []
        for _ in 1...100 {
            let link = try controller.connect()
            links.insert(link)
            controller.reportDisconnection()
            #expect(controller.host.information(of: link) == nil)
            #expect(throws: HostError.noSuchLink) {
                _ = try controller.host.start(.read(3), on: link, at: controller.now)
            }
        }
        #expect(links.count == 100)
    }

    // MARK: - Two hosts

    @Test("Both ends report which of them disconnected the link")
    func bothEndsLearnTheReason() throws {
        var world = HostWorld()
        let peripheral = world.start(), central = world.start()
        let connected = world.connect(central, to: peripheral)
        let pair = try #require(connected)
        try world.hosts[peripheral].disconnect(pair.peripheralLink, at: world.now)
        let local = world.next(peripheral) { $0.event.brief.hasPrefix("disconnected") ? $0.event.brief : nil }
        let remote = world.next(central) { $0.event.brief.hasPrefix("disconnected") ? $0.event.brief : nil }
        #expect(local == "disconnected \(pair.peripheralLink): 22")
        #expect(remote == "disconnected \(pair.centralLink): 19")
    }

    @Test("If both ends disconnect at the same time, each reports the end of the link once")
    func bothEndsMayAskAtOnce() throws {
        var world = HostWorld()
        let peripheral = world.start(), central = world.start()
        let connected = world.connect(central, to: peripheral)
        let pair = try #require(connected)
        try world.hosts[peripheral].disconnect(pair.peripheralLink, at: world.now)
        try world.hosts[central].disconnect(pair.centralLink, at: world.now)
        world.run(for: .seconds(20))
        for index in [peripheral, central] {
            #expect(world.seen[index].count { $0.event.disconnection != nil } == 1)
            #expect(world.hosts[index].connectedLinks == [])
        }
    }

    @Test("If the peers move out of range, the link ends on both sides after the supervision timeout")
    func aPeerOutOfRangeIsLostAfterTheSupervisionTimeout() throws {
        var world = HostWorld()
        let peripheral = world.start(), central = world.start()
        let connected = world.connect(central, to: peripheral)
        let pair = try #require(connected)
        world.run(for: .seconds(1))
        world.seen[central].removeAll()
        world.air.setPathLoss(
            between: world.controllers[central], and: world.controllers[peripheral], to: 200, at: world.now)
        world.run(for: .milliseconds(3900))
        #expect(world.seen[central].isEmpty)
        world.run(for: .milliseconds(200))
        #expect(world.seen[central].map(\.event.brief) == ["disconnected \(pair.centralLink): 8"])
        #expect(world.seen[peripheral].last?.event.brief == "disconnected \(pair.peripheralLink): 8")
    }

    @Test("Both ends can read the signal strength of the link")
    func theSignalStrengthIsRead() throws {
        var world = HostWorld()
        let peripheral = world.start(), central = world.start()
        let connected = world.connect(central, to: peripheral)
        let pair = try #require(connected)
        for (index, link) in [(central, pair.centralLink), (peripheral, pair.peripheralLink)] {
            _ = try world.hosts[index].readRSSI(of: link, at: world.now)
            let rssi = world.next(index) { $0.event.brief.hasPrefix("rssi") ? $0.event.brief : nil }
            #expect(rssi == "rssi -50")
        }
    }
}
