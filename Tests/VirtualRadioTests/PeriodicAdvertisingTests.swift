import BluetoothBase
import BluetoothHCI
import TestSupport
import Testing
import VirtualRadio

@Suite("Periodic advertising of virtual controllers")
struct PeriodicAdvertisingTests {
    static let set = AdvertisingHandle(3)
    /// Its interval is 100 ms, that of the set as well.
    static let interval = ConnectionInterval(rawValue: 80)

    static let advertiser = Bench.peripheralAddress
    /// What every report of it begins with: the handle, the RSSI of the bench and no constant tone extension.
    static let report = "2000" + "7f" + "ce" + "ff"
    static let established = "00" + "2000" + "00" + "00a00000000000" + "01500000"

    static func bench(
        responses: Bool = false, central: @escaping (inout ControllerConfiguration) -> Void = { _ in }
    ) -> Bench {
        var bench = Bench(
            central: {
                $0.hasExtendedAdvertising = true
                $0.hasPeriodicAdvertising = true
                central(&$0)
            },
            peripheral: {
                $0.hasExtendedAdvertising = true
                $0.hasPeriodicAdvertising = true
            })
        let first = Bench.allEvents.rawValue & ~0x1000 | 0x80_E000
        let mask = LEEventMask(rawValue: responses ? first | 0xF8_0000_0000 : first)
        for id in [bench.central, bench.peripheral] {
            bench.prepare(id, SetEventMask(eventMask: EventMask(rawValue: .max)), LESetEventMask(eventMask: mask))
        }
        return bench
    }

    static let parameters = LESetPeriodicAdvertisingParameters(
        advertisingHandle: set, intervalMin: interval, intervalMax: interval)
    static let on = LESetPeriodicAdvertisingEnable(enabling: .enabled, advertisingHandle: set)
    static let off = LESetPeriodicAdvertisingEnable(enabling: [], advertisingHandle: set)

    static func data(
        _ octets: [UInt8], _ operation: AdvertisingDataFragment.Operation = .complete
    ) -> LESetPeriodicAdvertisingData {
        LESetPeriodicAdvertisingData(advertisingHandle: set, operation: operation, data: octets)
    }

    static func sync(
        _ options: PeriodicSyncOptions = [], sid: UInt8 = 0, address: DeviceAddress = advertiser
    ) -> LEPeriodicAdvertisingCreateSync {
        LEPeriodicAdvertisingCreateSync(
            options: options, advertisingSID: sid, advertiserAddress: address,
            timeout: SupervisionTimeout(rawValue: 50))
    }

    /// Has one advertise the given data, and the other scan.
    static func start(_ data: [UInt8], on bench: inout Bench) {
        bench.prepare(bench.peripheral, ExtendedAdvertisingTests.parameters())
        bench.prepare(bench.peripheral, parameters, Self.data(data), on, ExtendedAdvertisingTests.enable())
        bench.prepare(bench.central, ExtendedAdvertisingTests.scan(.passive), LESetExtendedScanEnable(isEnabled: true))
    }

    @Test("a controller reports its capabilities, and does not know the commands without them") func capabilities() {
        var bench = Self.bench()
        #expect(bench.answered(LEReadPeriodicAdvertiserListSize(), bench.central) == "040e05014a200008")
        #expect(
            bench.answered(LEReadLocalSupportedFeatures(), bench.central) == "040e0c01032000" + "6f39000310180000")
        var plain = ExtendedAdvertisingTests.bench()
        #expect(plain.answered(LEReadPeriodicAdvertiserListSize(), plain.central) == "040f0401014a20")
    }

    @Test("a scanner synchronizes, receives each event, and loses the sync when the advertising ends") func named() {
        var bench = Self.bench()
        Self.start([7, 8], on: &bench)
        #expect(bench.answered(Self.sync(), bench.central) == "040f0400014420")
        // The next advertising event comes after 100 to 110 ms, and says when the next periodic one does: after 200 ms.
        bench.run(.milliseconds(210))
        bench.expect("043e10" + "0e" + Self.established)
        #expect(bench.told(bench.central) == ["043e0a0f" + Self.report + "00" + "02" + "0708"])
        bench.run(.milliseconds(200))
        #expect(bench.told(bench.central).count == 2)
        bench.prepare(bench.peripheral, Self.off)
        bench.run(.milliseconds(500))
        #expect(bench.told(bench.central) == ["043e03102000"])
        #expect(
            bench.answered(LEPeriodicAdvertisingTerminateSync(syncHandle: SyncHandle(0x20)), bench.central)
                == "040e0401462042",
            "the handle is free")
    }

    @Test("long data is reported in pieces of at most 247 octets") func pieces() {
        var bench = Self.bench()
        Self.start([], on: &bench)
        bench.prepare(
            bench.peripheral, Self.off, Self.data([UInt8](repeating: 1, count: 252), .first),
            Self.data([UInt8](repeating: 2, count: 100), .last), Self.on)
        bench.prepare(bench.central, Self.sync())
        bench.run(.milliseconds(300))
        let reports = bench.told(bench.central).filter { $0.hasPrefix("043e") && $0.dropFirst(6).hasPrefix("0f") }
        let first = "043eff0f" + Self.report + "01f7" + String(repeating: "01", count: 247)
        let rest = String(repeating: "01", count: 5) + String(repeating: "02", count: 100)
        #expect(reports.prefix(2) == [first, "043e710f" + Self.report + "0069" + rest])
    }

    @Test("a sync with the advertiser list accepts any advertiser on it, and no other") func list() {
        var bench = Self.bench()
        Self.start([9], on: &bench)
        let other = DeviceAddress(0xB0, kind: .public)
        bench.prepare(bench.central, LEAddDeviceToPeriodicAdvertiserList(advertiserAddress: other, advertisingSID: 0))
        bench.prepare(bench.central, Self.sync(.usesAdvertiserList))
        bench.run(.milliseconds(500))
        #expect(bench.told(bench.central).allSatisfy { !$0.hasPrefix("043e100e") })
        let device = LEAddDeviceToPeriodicAdvertiserList(advertiserAddress: Self.advertiser, advertisingSID: 0)
        #expect(bench.answered(device, bench.central) == "040e040147200c", "not while the list is in use")
        bench.prepare(bench.central, LEPeriodicAdvertisingCreateSyncCancel())
        #expect(bench.answered(device, bench.central) == "040e0401472000")
        #expect(bench.answered(device, bench.central) == "040e0401472012", "once")
        bench.prepare(bench.central, Self.sync(.usesAdvertiserList))
        bench.run(.milliseconds(300))
        bench.expect("043e10" + "0e" + Self.established)
    }

    @Test("a pending sync can be cancelled, and a second one is rejected") func cancel() {
        var bench = Self.bench()
        #expect(bench.answered(LEPeriodicAdvertisingCreateSyncCancel(), bench.central) == "040e040145200c")
        bench.prepare(bench.central, Self.sync())
        #expect(bench.answered(Self.sync(sid: 1), bench.central) == "040f040c014420")
        #expect(
            bench.answered(LEPeriodicAdvertisingCreateSyncCancel(), bench.central)
                == "040e0401452000; 043e100e44000000" + "00a00000000000" + "01000000")
    }

    @Test("a sync fails if the set fades before its first event") func failure() {
        var bench = Self.bench()
        Self.start([9], on: &bench)
        bench.prepare(bench.central, Self.sync())
        bench.run(.milliseconds(150))
        bench.air.setPathLoss(between: bench.central, and: bench.peripheral, to: 200, at: bench.now)
        bench.run(.seconds(1))
        #expect(
            bench.told(bench.central).contains("043e100e3e000000" + "00a00000000000" + "01000000"))
    }

    @Test("reports are withheld on request, including duplicates") func reporting() {
        var bench = Self.bench()
        Self.start([9], on: &bench)
        bench.prepare(
            bench.peripheral, Self.off,
            LESetPeriodicAdvertisingEnable(enabling: [.enabled, .includesADI], advertisingHandle: Self.set))
        bench.prepare(bench.central, Self.sync([.disablesReports]))
        bench.run(.milliseconds(500))
        #expect(bench.told(bench.central).allSatisfy { !$0.dropFirst(6).hasPrefix("0f") })
        bench.prepare(bench.central, LESetExtendedScanEnable(isEnabled: false))
        bench.prepare(
            bench.central,
            LESetPeriodicAdvertisingReceiveEnable(
                syncHandle: SyncHandle(0x20), reporting: [.enabled, .filtersDuplicates]))
        bench.run(.milliseconds(500))
        #expect(bench.told(bench.central).count == 1)
        bench.prepare(bench.peripheral, Self.data([1, 2]))
        bench.run(.milliseconds(500))
        #expect(bench.told(bench.central) == ["043e0a0f" + Self.report + "00" + "02" + "0102"])
    }

    static let setUps: [(AdvertisingEventProperties, UInt16, String)] = [
        (.connectable, 80, "12"), (.legacy, 80, "12"), (.anonymous, 80, "12"), ([], 5, "12"), ([], 6, "00"),
    ]

    @Test("Vol 4, Part E, 7.8.61 to 7.8.63: invalid periodic advertising is rejected", arguments: setUps)
    func refused(_ properties: AdvertisingEventProperties, _ units: UInt16, _ status: String) {
        var bench = Self.bench()
        bench.prepare(bench.peripheral, ExtendedAdvertisingTests.parameters(properties))
        #expect(bench.answered(Self.data([1]), bench.peripheral) == "040e04013f200c", "before its parameters")
        #expect(bench.answered(Self.on, bench.peripheral) == "040e040140200c")
        let interval = ConnectionInterval(rawValue: units)
        let parameters = LESetPeriodicAdvertisingParameters(
            advertisingHandle: Self.set, intervalMin: interval, intervalMax: interval)
        #expect(bench.answered(parameters, bench.peripheral) == "040e04013e20" + status)
        let unknown = LESetPeriodicAdvertisingEnable(enabling: .enabled, advertisingHandle: AdvertisingHandle(9))
        #expect(bench.answered(unknown, bench.peripheral) == "040e0401402042")
    }

    @Test("a set cannot be removed until its periodic advertising is off") func removal() {
        var bench = Self.bench()
        Self.start([9], on: &bench)
        bench.prepare(bench.peripheral, ExtendedAdvertisingTests.enable(false))
        let remove = LERemoveAdvertisingSet(advertisingHandle: Self.set)
        #expect(bench.answered(remove, bench.peripheral) == "040e04013c200c")
        bench.prepare(bench.peripheral, Self.off)
        #expect(bench.answered(remove, bench.peripheral) == "040e04013c2000")
    }
}

extension Bench {
    /// As `received(by:)`, without spaces.
    mutating func told(_ id: ControllerID) -> [String] {
        received(by: id).map { $0.filter { $0 != " " }.lowercased() }
    }

    /// Takes packets to the central until one is this.
    mutating func expect(_ packet: String, sourceLocation: SourceLocation = #_sourceLocation) {
        var passed: [String] = []
        while let next = air[central].outbox.popFirst() {
            passed.append(next.hexadecimal().filter { $0 != " " }.lowercased())
            if passed.last == packet { return }
        }
        Issue.record("not among \(passed)", sourceLocation: sourceLocation)
    }

    mutating func answered(_ command: some HCICommand, _ id: ControllerID) -> String {
        _ = received(by: id)
        send(command, from: id)
        return told(id).joined(separator: "; ")
    }
}
