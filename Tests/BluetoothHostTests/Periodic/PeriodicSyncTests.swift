import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Synchronizing to periodic advertising")
struct PeriodicSyncTests {
    static let create = "LE Periodic Advertising Create Sync: 0005000100" + "00eeffc0" + "0000e80300"
    static let other = PeriodicAdvertiser(peer: PeerID(DeviceAddress(0xC0_00_00_00_00_02, kind: .random)), sid: 0)

    @Test("the host synchronizes with a named set, and scans meanwhile", arguments: [false, true])
    func named(_ hasResponses: Bool) throws {
        var controller = ScriptedController.periodic()
        let sync = try controller.host.synchronize(with: [ScriptedController.advertiser], at: controller.now)
        controller.settle()
        #expect(
            controller.takeCommands() == [
                Self.create, "LE Set Extended Scan Parameters: 0000010060003000",
                "LE Set Extended Scan Enable: 010100000000",
            ])
        controller.reportSync(hasResponses: hasResponses)
        #expect(controller.takeEvents() == ["synchronized 5"])
        #expect(controller.takeCommands() == ["LE Set Extended Scan Enable: 000000000000"])
        let subevents = PeriodicSubevents(
            count: 2, interval: .milliseconds(25), responseSlotDelay: .milliseconds(10),
            responseSlotSpacing: .milliseconds(1), responseSlotCount: 0)
        let peer = PeerID(ScriptedController.peer)
        #expect(
            controller.host.information(of: sync)
                == PeriodicSyncInformation(
                    peer: peer, address: ScriptedController.peer, sid: 5, phy: .le2M, interval: .milliseconds(100),
                    subevents: hasResponses ? subevents : nil))
        controller.host.endSync(sync, at: controller.now)
        controller.settle()
        #expect(controller.takeCommands() == ["LE Periodic Advertising Terminate Sync: 2000"])
        #expect(controller.host.information(of: sync) == nil)
        #expect(controller.takeEvents() == [])
    }

    @Test(
        "GAP/PADV/PASE/BV-01, BV-02, BV-07, BV-08: a host reports a train's parameters, and its data only if enabled",
        arguments: [false, true], [false, true])
    func listening(_ hasResponses: Bool, _ isReporting: Bool) throws {
        var controller = ScriptedController.periodic()
        let sync = try controller.host.synchronize(
            with: [ScriptedController.advertiser], parameters: PeriodicSyncParameters(isReporting: isReporting),
            at: controller.now)
        controller.settle()
        #expect(
            controller.takePeriodicCommands() == [
                "LE Periodic Advertising Create Sync: " + (isReporting ? "00" : "02") + "05000100" + "00eeffc0"
                    + "0000e80300"
            ])
        controller.reportSync(hasResponses: hasResponses)
        #expect(controller.takeEvents() == ["synchronized 5"])
        let information = try #require(controller.host.information(of: sync))
        #expect(information.interval == .milliseconds(100) && (information.subevents != nil) == hasResponses)
        guard isReporting else { return }
        if hasResponses { controller.reportSubevent(1, [1]) } else { controller.reportPeriodic([1]) }
        #expect(controller.seen.map(\.bytes) == [[1]])
        guard case .periodic(sync, .report(let report))? = controller.seen.first?.event else {
            Issue.record("no report")
            return
        }
        #expect(report.subevent == (hasResponses ? 1 : nil))
    }

    @Test("the host synchronizes with any set of a list", arguments: [false, true])
    func list(_ hasResponses: Bool) throws {
        var controller = ScriptedController.periodic()
        _ = try controller.host.synchronize(with: [Self.other, ScriptedController.advertiser], at: controller.now)
        controller.settle()
        #expect(
            controller.takePeriodicCommands() == [
                "LE Clear Periodic Advertiser List: ",
                "LE Add Device To Periodic Advertiser List: 01" + "0200000000c0" + "00",
                "LE Add Device To Periodic Advertiser List: 00" + "010000eeffc0" + "05",
                "LE Periodic Advertising Create Sync: 0100" + "00000000000000" + "0000e80300",
            ])
        controller.reportSync(hasResponses: hasResponses)
        #expect(controller.takeEvents() == ["synchronized 5"])
    }

    @Test("a list that the controller has no room for fails as busy") func longList() throws {
        var controller = ScriptedController.periodic([
            .leAddDeviceToPeriodicAdvertiserList: .complete(.memoryCapacityExceeded)
        ])
        _ = try controller.host.synchronize(with: [Self.other, ScriptedController.advertiser], at: controller.now)
        controller.settle()
        #expect(controller.takeEvents() == ["not synchronized: \(HostError.busy)"])
    }

    @Test("every octet of the synchronization commands") func octets() throws {
        var controller = ScriptedController.periodic(features: [0x08, 0x31, 0, 0, 0, 0, 0, 0])
        var parameters = PeriodicSyncParameters(
            skip: 499, timeout: .milliseconds(163_840), isReporting: false, filtersDuplicates: true)
        let sync = try controller.host.synchronize(
            with: [ScriptedController.advertiser], parameters: parameters, at: controller.now)
        controller.settle()
        #expect(
            controller.takePeriodicCommands() == [
                "LE Periodic Advertising Create Sync: 0605000100" + "00eeffc0" + "f301004000"
            ])
        controller.reportSync()
        try controller.host.setReporting(true, filtersDuplicates: true, of: sync, at: controller.now)
        controller.settle()
        #expect(
            controller.takePeriodicCommands() == ["LE Set Periodic Advertising Receive Enable: 200003"])
        parameters.phys = .leCoded
        #expect(throws: HostError.unsupported(.leCoded)) {
            try controller.host.synchronize(with: [Self.other], parameters: parameters, at: controller.now)
        }
    }

    @Test("an attempt ends by timeout, by a call, or if the controller refuses it") func ends() throws {
        var controller = ScriptedController.periodic()
        _ = try controller.host.synchronize(
            with: [ScriptedController.advertiser], timeout: .seconds(3), at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.run(for: .seconds(3))
        #expect(controller.takeEvents() == ["not synchronized: \(HostError.timedOut)"])
        #expect(
            controller.takeCommands() == [
                "LE Periodic Advertising Create Sync Cancel: ", "LE Set Extended Scan Enable: 000000000000",
            ])
        controller.reportSync(.operationCancelledByHost)
        let sync = try controller.host.synchronize(with: [ScriptedController.advertiser], at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.host.endSync(sync, at: controller.now)
        controller.settle()
        #expect(controller.takePeriodicCommands() == ["LE Periodic Advertising Create Sync Cancel: "])
        // The advertiser was found before the controller was told.
        controller.reportSync(handle: 0x21)
        #expect(controller.takePeriodicCommands() == ["LE Periodic Advertising Terminate Sync: 2100"])
        #expect(controller.takeEvents() == ["not synchronized: \(HostError.cancelled)"])
        controller.answers[.lePeriodicAdvertisingCreateSync] = .status(.connectionAlreadyExists)
        _ = try controller.host.synchronize(with: [ScriptedController.advertiser], at: controller.now)
        controller.settle()
        #expect(
            controller.takeEvents() == ["not synchronized: \(HostError.controller(.connectionAlreadyExists))"])
    }

    @Test("if the controller does not confirm a cancellation within two seconds, the next attempt starts")
    func forgottenEnd() throws {
        var controller = ScriptedController.periodic()
        let sync = try controller.host.synchronize(with: [Self.other], at: controller.now)
        controller.settle()
        controller.host.endSync(sync, at: controller.now)
        _ = try controller.host.synchronize(with: [ScriptedController.advertiser], at: controller.now)
        controller.settle()
        #expect(controller.takePeriodicCommands().last == "LE Periodic Advertising Create Sync Cancel: ")
        controller.run(for: .milliseconds(1999))
        #expect(controller.takePeriodicCommands() == [])
        controller.run(for: .milliseconds(1))
        #expect(controller.takePeriodicCommands() == [Self.create])
        #expect(!controller.isStuck)
    }

    @Test("a synchronization that fails to be established is retried") func again() throws {
        var controller = ScriptedController.periodic()
        _ = try controller.host.synchronize(with: [ScriptedController.advertiser], at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.reportSync(.connectionFailedToBeEstablished)
        #expect(controller.takePeriodicCommands() == [Self.create])
        controller.reportSync(.connectionFailedToBeEstablished)
        #expect(controller.takePeriodicCommands() == [], "at once only the first time")
        controller.run(for: .milliseconds(100))
        #expect(controller.takePeriodicCommands() == [Self.create])
        #expect(controller.takeEvents() == [])
    }

    @Test("several attempts take turns of five seconds") func turns() throws {
        var controller = ScriptedController.periodic()
        _ = try controller.host.synchronize(with: [ScriptedController.advertiser], at: controller.now)
        _ = try controller.host.synchronize(with: [Self.other], at: controller.now)
        controller.settle()
        #expect(controller.takePeriodicCommands() == [Self.create])
        controller.run(for: .seconds(5))
        #expect(controller.takePeriodicCommands() == ["LE Periodic Advertising Create Sync Cancel: "])
        controller.reportSync(.operationCancelledByHost)
        #expect(
            controller.takePeriodicCommands() == [
                "LE Periodic Advertising Create Sync: 0000010200" + "000000c0" + "0000e80300"
            ])
        #expect(controller.takeEvents() == [])
    }

    @Test("fragments are reassembled up to 1650 octets, and reports of nothing are dropped") func reassembly() throws {
        var controller = ScriptedController.periodic()
        _ = try controller.synchronize()
        let piece = [UInt8](repeating: 1, count: 247)
        controller.reportPeriodic([5, 6])
        for _ in 0..<6 { controller.reportPeriodic(piece, status: 1) }
        controller.reportPeriodic([UInt8](repeating: 2, count: 168))
        for _ in 0..<6 { controller.reportPeriodic(piece, status: 1) }
        controller.reportPeriodic([UInt8](repeating: 2, count: 169))
        controller.reportPeriodic([7], status: 1)
        controller.reportPeriodic([8], status: 2)
        controller.reportPeriodic([], status: 0xFF)
        controller.reportPeriodic([9], handle: 0x21)
        #expect(controller.seen.first?.bytes == [5, 6])
        #expect(
            controller.takeEvents() == [
                "periodic 2", "periodic 1650", "periodic 1482 truncated", "periodic 2 truncated",
            ])
    }

    @Test("an incomplete subevent is not joined with the next one") func subevents() throws {
        var controller = ScriptedController.periodic()
        let sync = try controller.synchronize(hasResponses: true)
        controller.reportSubevent(0, [1, 2], status: 1)
        controller.reportSubevent(1, [3], status: 1)
        controller.reportSubevent(1, [4])
        guard case .periodic(sync, .report(let report)) = try #require(controller.seen.first).event else {
            Issue.record("no report")
            return
        }
        #expect(controller.seen.map(\.bytes) == [[3, 4]])
        #expect(report.eventCounter == 0x0102 && report.subevent == 1 && report.rssi == -60)
        try controller.host.selectSubevents([1, 0], of: sync, at: controller.now)
        try controller.host.respond([7, 8], to: report, slot: 3, of: sync, at: controller.now)
        controller.settle()
        #expect(
            controller.takePeriodicCommands() == [
                "LE Set Periodic Sync Subevent: 20000000020100",
                "LE Set Periodic Advertising Response Data: 2000" + "0201" + "01" + "01" + "03" + "020708",
            ])
        #expect(throws: HostError.invalidParameters) {
            try controller.host.selectSubevents([2], of: sync, at: controller.now)
        }
    }

    @Test(
        "GAP/PADV/PAC/BV-02: the advertiser may connect if its train has responses, otherwise the link is ended",
        arguments: [true, false])
    func connected(_ hasResponses: Bool) throws {
        var controller = ScriptedController.periodic()
        _ = try controller.synchronize(hasResponses: hasResponses)
        controller.reportConnection(0x41, role: .peripheral)
        controller.reportFeatures(0x41)
        #expect(controller.host.connectedLinks.count == (hasResponses ? 1 : 0))
        #expect(controller.takeOpcodes().contains(.disconnect) == !hasResponses)
    }

    @Test("a loss, a reset and an unplugged controller end a synchronization, each with its own reason")
    func losses() throws {
        var controller = ScriptedController.periodic()
        let first = try controller.synchronize()
        controller.receive([0x04, 0x3E, 0x03, 0x10, 0x20, 0x00])
        #expect(controller.takeEvents() == ["synchronization ended: \(PeriodicSyncEnd.lost)"])
        #expect(throws: HostError.noSuchSync) {
            try controller.host.setReporting(false, of: first, at: controller.now)
        }
        _ = try controller.synchronize()
        _ = try controller.host.synchronize(with: [Self.other], at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.receive([0x04, 0x10, 0x01, 0x42])
        #expect(controller.takeEvents().contains("synchronization ended: \(PeriodicSyncEnd.controllerReset)"))
        #expect(controller.takePeriodicCommands().count == 1, "what was waited for is looked for again")
        controller.reportSync()
        controller.host.controllerLost(at: controller.now)
        controller.settle()
        #expect(
            controller.takeEvents() == ["synchronized 5", "synchronization ended: \(PeriodicSyncEnd.adapterRemoved)"])
    }

    @Test("the number of synchronizations and attempts is bounded") func bounded() throws {
        var controller = ScriptedController.periodic()
        for sid in 0..<16 as Range<UInt8> {
            _ = try controller.host.synchronize(
                with: [PeriodicAdvertiser(peer: PeerID(ScriptedController.peer), sid: sid)], at: controller.now)
        }
        #expect(throws: HostError.busy) {
            try controller.host.synchronize(with: [Self.other], at: controller.now)
        }
    }

    @Test("synchronizing fails without controller support or the extended commands") func unsupported() {
        for var controller in [ScriptedController.ready(), ScriptedController.extended()] {
            #expect(throws: HostError.unsupported(.periodicSynchronization)) {
                try controller.host.synchronize(with: [Self.other], at: controller.now)
            }
            controller.settle()
            #expect(controller.takeOpcodes() == [])
        }
    }
}
