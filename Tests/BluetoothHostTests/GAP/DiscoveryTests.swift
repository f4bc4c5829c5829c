import BluetoothBase
import BluetoothGAP
import BluetoothHCI
import BluetoothHost
import BluetoothSimulation
import BluetoothUsers
import TestSupport
import Testing
import VirtualRadio

/// Discoverable modes and discovery procedures (Core 5.4, Vol 3, Part C, 9.2).
@Suite("GAP: discovery")
struct DiscoveryTests {
    /// Case of the qualification, the flags, whether peers may connect, and how long it lasts. On a dual-mode
    /// controller the application leaves out BR/EDR Not Supported.
    static let modes: [(code: String, flags: UInt8, isConnectable: Bool, lasts: Duration?)] = [
        ("GAP/DISC/NONM/BV-01", 0x04, false, nil), ("GAP/DISC/NONM/BV-02", 0x04, true, nil),
        ("GAP/DISC/LIMM/BV-01", 0x01, false, .seconds(180)), ("GAP/DISC/LIMM/BV-02", 0x01, true, .seconds(180)),
        ("GAP/DISC/LIMM/BV-03", 0x05, false, .seconds(180)), ("GAP/DISC/LIMM/BV-04", 0x05, true, .seconds(180)),
        ("GAP/DISC/GENM/BV-01", 0x02, false, nil), ("GAP/DISC/GENM/BV-02", 0x02, true, nil),
        ("GAP/DISC/GENM/BV-03", 0x06, false, nil), ("GAP/DISC/GENM/BV-04", 0x06, true, nil),
        ("GAP/CONN/NCON/BV-01", 0x04, false, nil), ("GAP/CONN/NCON/BV-02", 0x06, false, nil),
        ("GAP/CONN/NCON/BV-03", 0x05, false, .seconds(180)),
        ("GAP/CONN/UCON/BV-01", 0x04, true, nil), ("GAP/CONN/UCON/BV-02", 0x06, true, nil),
        ("GAP/CONN/UCON/BV-03", 0x05, true, .seconds(180)),
    ]

    @Test(
        "Flags announce the discoverable mode, only connectable modes accept links, and limited mode lasts 180 s",
        arguments: modes)
    func mode(_ code: String, _ flags: UInt8, _ isConnectable: Bool, _ lasts: Duration?) throws {
        var world = HostWorld()
        let device = world.start(), other = world.start()
        let address = try #require(world.address(of: device))
        let start = world.now
        let parameters = AdvertisingParameters(isConnectable: isConnectable, data: [2, 1, flags])
        try world.hosts[device].startAdvertising(parameters, at: start)
        try world.hosts[other].startScanning(ScanParameters(), at: start)
        world.run(for: .seconds(1))
        world.hosts[other].stopScanning(at: world.now)
        world.settle()
        let reports = world.seen[other].compactMap { seen -> ([UInt8], Bool)? in
            guard case .advertisement(let report) = seen.event else { return nil }
            #expect(report.address == address)
            return (seen.bytes, report.type.contains(.connectable))
        }
        #expect(!reports.isEmpty)
        #expect(reports.allSatisfy { $0 == ([2, 1, flags], isConnectable) || $0.0.isEmpty && isConnectable })

        _ = try world.hosts[other].connect(to: PeerID(address), timeout: .seconds(10), at: world.now)
        world.run(for: .seconds(11))
        #expect(world.hosts[other].connectedLinks.count == (isConnectable ? 1 : 0))
        #expect(world.hosts[device].connectedLinks.count == (isConnectable ? 1 : 0))

        world.run(for: world.now.duration(to: start.advanced(by: .seconds(178))))
        let before = world.sightings(by: other, for: .seconds(1))
        #expect(!before.isEmpty && world.advertisingOctets(of: other) == [[2, 1, flags]])
        #expect(world.hosts[device].isAdvertisingWanted())
        world.run(for: .seconds(2))
        #expect(world.hosts[device].isAdvertisingWanted() == (lasts == nil))
        #expect(world.air[world.controllers[device]].isAdvertising == (lasts == nil))
        let after = world.sightings(by: other, for: .seconds(1))
        #expect(after.isEmpty == (lasts != nil))
    }

    /// Case of the qualification, whether discovery is limited, the type of the report, its data, and whether the
    /// device is found.
    static let procedures: [(code: String, isLimited: Bool, type: String, data: String, isFound: Bool)] = [
        ("GAP/DISC/LIMP/BV-01", true, "00", "02 01 05", true), ("GAP/DISC/LIMP/BV-02", true, "00", "02 01 06", false),
        ("GAP/DISC/LIMP/BV-03", true, "03", "03 19 0000", false),
        ("GAP/DISC/LIMP/BV-04", true, "00", "02 01 04", false),
        ("GAP/DISC/LIMP/BV-05", true, "01", "", false),
        ("GAP/DISC/GENP/BV-01", false, "00", "02 01 06", true), ("GAP/DISC/GENP/BV-02", false, "00", "02 01 05", true),
        ("GAP/DISC/GENP/BV-03", false, "03", "03 19 0000", false),
        ("GAP/DISC/GENP/BV-04", false, "00", "02 01 04", false), ("GAP/DISC/GENP/BV-05", false, "01", "", false),
    ]

    @Test(
        "Limited discovery finds devices in limited mode only; general discovery finds devices in either mode",
        arguments: procedures)
    func procedure(_ code: String, _ isLimited: Bool, _ type: String, _ data: String, _ isFound: Bool) throws {
        let user = UserID(number: 1)
        var scene = SharedScene(users: user)
        let filter = ScanFilter(isLimitedDiscoverableOnly: isLimited, isDiscoverableOnly: true)
        scene.perform(.scan(filter, ScanParameters()), 1, of: user)
        let payload = bytes(data)
        let report = bytes("02 01 \(type) 00 0100 00EEFFC0") + [UInt8(payload.count)] + payload + [0xD8]
        scene.receive(packet: [0x04, 0x3E, UInt8(report.count)] + report)
        #expect((scene.sightingCounts[user] ?? 0) == (isFound ? 1 : 0))
    }
}
