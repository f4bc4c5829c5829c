import BluetoothBase
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import TestSupport
import Testing

@Suite("Transferring periodic advertising")
struct SyncTransferTests {
    /// On which side of its link a host is, and whether what it is about has responses.
    static let cases = [LinkRole.central, .peripheral].flatMap { role in [false, true].map { (role, $0) } }

    static func connect(_ controller: inout ScriptedController, as role: LinkRole) throws -> LinkIdentifier {
        role == .central ? try controller.connect(0x40) : try controller.accept(0x40)
    }

    @Test(
        "GAP/PADV/PASE/BV-03 to BV-06, BV-09 to BV-12: a peer transfers a train, with reports enabled or disabled",
        arguments: cases, [false, true])
    func received(_ part: (role: LinkRole, hasResponses: Bool), _ isReporting: Bool) throws {
        let (role, hasResponses) = part
        var controller = ScriptedController.periodic()
        let link = try Self.connect(&controller, as: role)
        // [Status, connection, service data], and what Sync Established says without its status.
        let head: [UInt8] = [0x00, 0x40, 0x00, 0x34, 0x12, 0x20, 0, 5, 0] + [0x01, 0, 0, 0xEE, 0xFF, 0xC0]
        let event =
            hasResponses
            ? [0x04, 0x3E, 24, 0x26] + head + [2, 0x50, 0, 7, 2, 20, 8, 8]
            : [0x04, 0x3E, 20, 0x18] + head + [2, 0x50, 0, 7]
        _ = try controller.host.acceptTransfers(
            PeriodicSyncParameters(skip: 1, isReporting: isReporting), on: link, at: controller.now)
        controller.settle()
        #expect(
            controller.takeCommands() == [
                "LE Set Periodic Advertising Sync Transfer Parameters: 4000" + (isReporting ? "02" : "01") + "0100"
                    + "e803" + "00"
            ])
        #expect(controller.takeEvents() == ["request completed"])
        controller.receive(event)
        guard case .periodic(let sync, .transferred(link, 0x1234, let information)) = controller.seen.first?.event
        else {
            Issue.record("not told")
            return
        }
        #expect(information.sid == 5 && (information.subevents?.count == 2) == hasResponses)
        controller.seen.removeAll()
        if isReporting {
            if hasResponses { controller.reportSubevent(1, [1]) } else { controller.reportPeriodic([1]) }
            #expect(controller.seen.map(\.bytes) == [[1]])
            guard case .periodic(sync, .report(let report))? = controller.seen.first?.event else {
                Issue.record("no report")
                return
            }
            #expect(report.subevent == (hasResponses ? 1 : nil))
        }
        controller.reportDisconnection(0x40)
        #expect(controller.host.information(of: sync) != nil, "it needs no link")
    }

    @Test("GAP/PADV/PAST: a host transfers a train that it receives, and one that it advertises", arguments: cases)
    func sent(_ role: LinkRole, _ hasResponses: Bool) throws {
        var controller = ScriptedController.periodic()
        let link = try Self.connect(&controller, as: role)
        let sync = try controller.synchronize(hasResponses: hasResponses)
        _ = try controller.host.transfer(sync, serviceData: 0x1234, to: link, at: controller.now)
        controller.settle()
        #expect(controller.takePeriodicCommands() == ["LE Periodic Advertising Sync Transfer: 400034122000"])
        let parameters = PeriodicAdvertisingTests.parameters(
            responses: hasResponses ? PeriodicAdvertisingTests.subevents : nil)
        try controller.host.startAdvertising(parameters, as: PeriodicAdvertisingTests.set, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        _ = try controller.host.transfer(
            PeriodicAdvertisingTests.set, serviceData: 7, to: link, at: controller.now)
        controller.settle()
        #expect(controller.takePeriodicCommands() == ["LE Periodic Advertising Set Info Transfer: 4000070001"])
        #expect(controller.takeEvents() == ["request completed", "advertising 1", "request completed"])
    }

    @Test("transfers to a peer without support, of an unknown set, and over an ended link fail differently")
    func refusals() throws {
        var controller = ScriptedController.periodic([
            .lePeriodicAdvertisingSyncTransfer: .complete(.unsupportedRemoteFeature, [0x40, 0])
        ])
        let link = try controller.connect(0x40)
        let sync = try controller.synchronize()
        _ = try controller.host.transfer(sync, to: link, at: controller.now)
        controller.settle()
        #expect(
            controller.takeEvents() == ["request failed: \(HostError.controller(.unsupportedRemoteFeature))"])
        #expect(throws: HostError.invalidParameters) {
            try controller.host.transfer(AdvertisingHandle(1), to: link, at: controller.now)
        }
        controller.reportDisconnection(0x40)
        #expect(throws: HostError.noSuchLink) { try controller.host.transfer(sync, to: link, at: controller.now) }
        controller.host.endSync(sync, at: controller.now)
        #expect(throws: HostError.noSuchSync) { try controller.host.transfer(sync, to: link, at: controller.now) }
        var without = ScriptedController.periodic(features: [0x08, 0x39, 0, 0, 0, 0, 0, 0])
        let other = try without.connect(0x40)
        #expect(throws: HostError.unsupported(.syncTransfer)) {
            try without.host.acceptTransfers(nil, on: other, at: without.now)
        }
    }

    @Test("pending requests end with their link, and are not sent afterwards") func overtaken() throws {
        var controller = ScriptedController.periodic([.lePeriodicAdvertisingSyncTransfer: .silence])
        let link = try controller.connect(0x40)
        let sync = try controller.synchronize()
        _ = try controller.host.transfer(sync, to: link, at: controller.now)
        _ = try controller.host.transfer(sync, to: link, at: controller.now)
        controller.settle()
        controller.commands.removeAll()
        controller.reportDisconnection(0x40)
        #expect(
            controller.takeEvents().filter { $0.hasPrefix("request failed") }.count == 2)
        controller.complete(.lePeriodicAdvertisingSyncTransfer, .unknownConnectionIdentifier, [0x40, 0])
        #expect(controller.takePeriodicCommands() == [])
    }
}
