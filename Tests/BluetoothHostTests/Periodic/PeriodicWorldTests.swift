import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import Testing
import VirtualRadio

@Suite("Periodic advertising between hosts")
struct PeriodicWorldTests {
    static let periodic: @Sendable (inout ControllerConfiguration) -> Void = {
        $0.hasExtendedAdvertising = true
        $0.hasPeriodicAdvertising = true
    }

    /// A world with so many hosts, of which the first advertises periodically.
    static func world(_ count: Int, _ parameters: AdvertisingParameters) throws -> HostWorld {
        var world = HostWorld()
        for _ in 0..<count { _ = world.start(periodic) }
        try world.hosts[0].startAdvertising(parameters, as: PeriodicAdvertisingTests.set, at: world.now)
        world.run(for: .milliseconds(10))
        return world
    }

    static func advertiser(_ world: HostWorld) throws -> PeriodicAdvertiser {
        PeriodicAdvertiser(peer: PeerID(try #require(world.hosts[0].controller?.address)), sid: 5)
    }

    @Test(
        "GAP/PADV/PAM/BV-01: up to 1650 octets arrive whole, and changed data arrives without a break",
        arguments: [1, 247, 248, 1650])
    func data(_ length: Int) throws {
        let octets = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        var world = try Self.world(2, PeriodicAdvertisingTests.parameters(octets))
        let sync = try world.hosts[1].synchronize(with: [Self.advertiser(world)], at: world.now)
        #expect(world.next(1) { $0.event.report(of: sync) == nil ? nil : $0.bytes } == octets)
        try world.hosts[0].startAdvertising(
            PeriodicAdvertisingTests.parameters([9, 8]), as: PeriodicAdvertisingTests.set, at: world.now)
        let changed = world.next(1) { $0.bytes == [9, 8] ? true : $0.event.isSyncEnd ? false : nil }
        #expect(changed == true)
    }

    @Test("an advertiser that stops is lost, and reports of its set give the periodic interval") func lost() throws {
        var world = try Self.world(2, PeriodicAdvertisingTests.parameters())
        try world.hosts[1].startScanning(ScanParameters(), at: world.now)
        let interval = world.next(1) { seen -> Duration? in
            guard case .advertisement(let advertisement) = seen.event else { return nil }
            return advertisement.details.periodicInterval
        }
        #expect(interval == .milliseconds(100))
        world.hosts[1].stopScanning(at: world.now)
        let sync = try world.hosts[1].synchronize(with: [Self.advertiser(world)], at: world.now)
        #expect(world.next(1) { $0.event.report(of: sync) } != nil)
        world.hosts[0].stopAdvertising(PeriodicAdvertisingTests.set, at: world.now)
        world.run(for: .seconds(9))
        #expect(!world.seen[1].contains { $0.event.isSyncEnd })
        world.run(for: .seconds(2))
        #expect(world.seen[1].contains { $0.event.isSyncEnd })
        #expect(!world.air[world.controllers[1]].isScanning)
    }

    @Test("a host passes on a train that it receives, over a link in either role", arguments: [true, false])
    func passedOn(_ isCentral: Bool) throws {
        var world = try Self.world(3, PeriodicAdvertisingTests.parameters([1, 2]))
        let sync = try world.hosts[1].synchronize(with: [Self.advertiser(world)], at: world.now)
        #expect(world.next(1) { $0.event.report(of: sync) } != nil)
        let pair = try #require(isCentral ? world.connect(1, to: 2) : world.connect(2, to: 1))
        let (own, other) = isCentral ? (pair.centralLink, pair.peripheralLink) : (pair.peripheralLink, pair.centralLink)
        _ = try world.hosts[2].acceptTransfers(PeriodicSyncParameters(), on: other, at: world.now)
        world.run(for: .milliseconds(100))
        _ = try world.hosts[1].transfer(sync, serviceData: 77, to: own, at: world.now)
        let transferred = world.next(2) { seen -> PeriodicSyncIdentifier? in
            guard case .periodic(let sync, .transferred(other, 77, _)) = seen.event else { return nil }
            return sync
        }
        let passed = try #require(transferred)
        #expect(world.next(2) { $0.event.report(of: passed) == nil ? nil : $0.bytes } == [1, 2])
    }

    @Test("GAP/PADV/PAM/BV-02: the data of a subevent arrives, and is answered in the slot that the device chooses")
    func responses() throws {
        var world = try Self.world(
            2, PeriodicAdvertisingTests.parameters(responses: PeriodicAdvertisingTests.subevents))
        let sync = try world.hosts[1].synchronize(with: [Self.advertiser(world)], at: world.now)
        // Nobody is synchronized before there is something to receive.
        var established = false
        var response: [UInt8]?
        for _ in 0..<40 where response == nil {
            let subevents = [0, 1].map {
                PeriodicSubeventData(subevent: $0, data: [UInt8($0), 42], responseSlots: 0..<4)
            }
            try world.hosts[0].setSubeventData(subevents, of: PeriodicAdvertisingTests.set, at: world.now)
            let limit = world.now.advanced(by: .milliseconds(100))
            while world.now < limit {
                world.run(for: .milliseconds(1))
                while !world.seen[1].isEmpty {
                    let seen = world.seen[1].removeFirst()
                    if case .periodic(sync, .established) = seen.event {
                        established = true
                        try world.hosts[1].selectSubevents([1], of: sync, at: world.now)
                    }
                    guard let report = seen.event.report(of: sync) else { continue }
                    #expect(seen.bytes == [1, 42] && report.subevent == 1)
                    try world.hosts[1].respond([3, 4, 5], to: report, slot: 2, of: sync, at: world.now)
                }
                while !world.seen[0].isEmpty {
                    let seen = world.seen[0].removeFirst()
                    if case .subevents(_, .response(subevent: 1, slot: 2, _)) = seen.event { response = seen.bytes }
                }
            }
        }
        #expect(established)
        #expect(response == [3, 4, 5])
    }
}

extension HostEvent {
    fileprivate func report(of sync: PeriodicSyncIdentifier) -> PeriodicReport? {
        if case .periodic(sync, .report(let report)) = self { report } else { nil }
    }

    fileprivate var isSyncEnd: Bool {
        if case .periodic(_, .ended(.lost)) = self { true } else { false }
    }
}
