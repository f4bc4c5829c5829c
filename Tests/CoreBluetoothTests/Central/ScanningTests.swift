import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("B: scanning", .timeLimit(.minutes(30)))
struct ScanningTests {
    /// A radio with a manager that is on, and advertisers that come as a test wants them.
    struct Air {
        let stage = Stage()
        let events = CentralRecorder(Recorder())
        let manager: CBCentralManager
        let port: VirtualRadio.Port

        init() async {
            port = stage.radio.addController()
            manager = stage.with(port) { [events] in CBCentralManager(delegate: events, queue: events.recorder.queue) }
            await events.recorder.expect("state poweredOn")
        }

        var recorder: Recorder { events.recorder }

        func advertise(
            _ name: String?, _ services: [BluetoothUUID] = [], isConnectable: Bool = true,
            _ more: (inout AdvertisementData) -> Void = { _ in }
        ) async throws -> Adapter {
            let adapter = try await Adapter.open(stage.radio.addController())
            var advertisement = AdvertisementData()
            advertisement.localName = name.map { .complete($0) }
            advertisement.serviceUUIDs = services
            more(&advertisement)
            try await adapter.advertise(advertisement, isConnectable: isConnectable)
            return adapter
        }

        func nextName() async -> String { String(await recorder.skip(to: "discovered").dropFirst("discovered ".count)) }
    }

    struct Filter: Sendable {
        var wanted: [String]?
        var expected: Set<String>
    }

    @Test(
        "Rows 12, 13: a scan finds advertisers of any of the services, or all if the list is empty or nil",
        arguments: [
            Filter(wanted: nil, expected: ["a", "b", "c", "none"]),
            Filter(wanted: [], expected: ["a", "b", "c", "none"]), Filter(wanted: ["180D"], expected: ["a"]),
            Filter(wanted: ["180D", "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"], expected: ["a", "b"]),
            Filter(wanted: ["0000180D-0000-1000-8000-00805F9B34FB", "12345678"], expected: ["a", "c"]),
        ])
    func services(filter: Filter) async throws {
        let air = await Air()
        let adapters = [
            try await air.advertise("a", ["180D", "180F"]),
            try await air.advertise("b", ["E07F0AE8-00BB-47F5-94F4-4A7174EA3032"]),
            try await air.advertise("c", ["12345678"]), try await air.advertise("none"),
        ]
        air.manager.scanForPeripherals(
            withServices: filter.wanted.map { $0.map { CBUUID(string: $0) } },
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        var names: Set<String> = []
        // Once all have been there each is heard some more times, and nobody else.
        while names != filter.expected { names.insert(await air.nextName()) }
        for _ in 0..<20 { names.insert(await air.nextName()) }
        #expect(names == filter.expected)
        withExtendedLifetime(adapters) {}
    }

    @Test("Row 20: results of one scan are not reported in the next")
    func leftovers() async throws {
        let scene = try await CentralScene(time: .manual)
        await scene.on()
        let other = try await scene.stage.passing { try await Adapter.open(scene.stage.radio.addController()) }
        var advertisement = AdvertisementData()
        advertisement.serviceUUIDs = ["180F"]
        try await scene.stage.passing { [advertisement] in try await other.advertise(advertisement) }
        scene.manager.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        await scene.stage.passing { _ = await scene.recorder.skip(to: "discovered") }
        // While the queue is held up more is found.
        let hold = DispatchSemaphore(value: 0)
        scene.recorder.queue.async {
            hold.wait()
            scene.manager.stopScan()
            scene.manager.scanForPeripherals(withServices: [CBUUID(string: "180F")])
            scene.events.peripherals = []
        }
        await scene.stage.radio.advance(by: .seconds(1))
        hold.signal()
        await scene.stage.passing {
            await until("the other is found") { await !scene.recorder.onQueue { scene.events.peripherals.isEmpty } }
        }
        #expect(await scene.recorder.onQueue { scene.events.peripherals.allSatisfy { $0.name != "Scene" } })
        await other.close()
    }

    @Test("Row 14: a second scan replaces the first")
    func replacement() async throws {
        let air = await Air()
        let adapters = [try await air.advertise("a", ["180D"]), try await air.advertise("b", ["180F"])]
        air.manager.scanForPeripherals(withServices: [CBUUID(string: "180D")])
        await air.recorder.skip(to: "discovered a")
        air.manager.scanForPeripherals(withServices: [CBUUID(string: "180F")])
        #expect(air.manager.isScanning)
        await air.recorder.skip(to: "discovered b")
        withExtendedLifetime(adapters) {}
    }

    @Test("Rows 15, 16: a peripheral is reported once, or with each advertising event if duplicates are allowed")
    func duplicates() async throws {
        let air = await Air()
        let adapter = try await air.advertise("a")
        air.manager.scanForPeripherals(withServices: nil)
        await air.recorder.skip(to: "discovered a")
        let count = air.recorder.all.count
        air.manager.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        for _ in 0..<5 { await air.recorder.skip(to: "discovered a") }
        // The first scan has reported it once, or twice where the scan response came later.
        #expect(count <= 3)
        withExtendedLifetime(adapter) {}
    }

    @Test("Row 17: the dictionary has the advertised fields, in the same types as on Apple's systems")
    func dictionary() async throws {
        let air = await Air()
        let adapter = try await air.advertise(
            nil, ["180D", "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"], isConnectable: false
        ) {
            $0.flags = [.generalDiscoverable]
        }
        let begin = Date().timeIntervalSinceReferenceDate
        air.manager.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        await air.recorder.skip(to: "discovered nil")
        var data = try #require(await air.recorder.onQueue { air.events.advertisements.last })
        #expect(
            Set(data.keys) == [
                "kCBAdvDataServiceUUIDs", "kCBAdvDataIsConnectable", "kCBAdvDataTimestamp", "kCBAdvDataRxPrimaryPHY",
                "kCBAdvDataRxSecondaryPHY",
            ])
        #expect(data[CBAdvertisementDataIsConnectable] as? Bool == false)
        #expect(data[CBAdvertisementDataIsConnectable] as? NSNumber == 0)
        #expect(
            data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]
                == [CBUUID(string: "180D"), CBUUID(string: "E07F0AE8-00BB-47F5-94F4-4A7174EA3032")])
        #expect(
            (data[CBAdvertisementDataServiceUUIDsKey] as? NSArray)?.firstObject as? CBUUID == CBUUID(string: "180D"))
        let timestamp = try #require(data["kCBAdvDataTimestamp"] as? Double)
        #expect((begin...Date().timeIntervalSinceReferenceDate).contains(timestamp))
        try await adapter.advertise(
            {
                var advertisement = AdvertisementData()
                advertisement.localName = .complete("full")
                advertisement.txPowerLevel = -4
                advertisement.manufacturerData = [.init(companyID: 0x004C, data: [2, 0x15])]
                advertisement.serviceData = [.init(uuid: "180F", data: [99])]
                advertisement.solicitedServiceUUIDs = ["1805"]
                return advertisement
            }())
        await air.recorder.skip(to: "discovered full")
        await until("everything was heard") {
            data = await air.recorder.onQueue { air.events.advertisements.last ?? [:] }
            return data.keys.contains(CBAdvertisementDataManufacturerDataKey)
        }
        #expect(data[CBAdvertisementDataLocalNameKey] as? String == "full")
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? Int == -4)
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber == -4)
        // The company comes first, its low octet first.
        #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0x4C, 0x00, 2, 0x15]))
        #expect(data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] == [CBUUID(string: "180F"): Data([99])])
        #expect(data[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "1805")])
        #expect(data[CBAdvertisementDataIsConnectable] as? Bool == true)
    }

    @Test("Row 19: the name is the advertised name until the Device Name is known")
    func names() async throws {
        let scene = try await CentralScene()
        let peripheral = try await scene.found()
        #expect(peripheral.name == "Scene")
        await scene.recorder.onQueue { scene.events.tellsNames = true }
        scene.manager.connect(peripheral)
        await scene.recorder.skip(to: "name Scene's device")
        #expect(peripheral.name == "Scene's device")
        scene.manager.cancelPeripheralConnection(peripheral)
        await scene.recorder.skip(to: "disconnected")
        scene.manager.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        await scene.recorder.expect("discovered Scene's device")
    }

    @Test("Row 20: `isScanning` changes at once, and stopping twice does no harm")
    func isScanning() async throws {
        let air = await Air()
        #expect(!air.manager.isScanning)
        air.manager.stopScan()
        air.manager.scanForPeripherals(withServices: nil)
        #expect(air.manager.isScanning)
        air.manager.stopScan()
        air.manager.stopScan()
        #expect(!air.manager.isScanning)
    }

    @Test("Row 20: nothing is reported after `stopScan`")
    func nothingAfterStop() async throws {
        let air = await Air()
        let adapters = [try await air.advertise("a"), try await air.advertise("b")]
        air.manager.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        await air.recorder.skip(to: "discovered")
        let count = await air.recorder.onQueue {
            air.manager.stopScan()
            return air.recorder.all.count
        }
        // Another manager is still told of both, again and again.
        let others = CentralRecorder(Recorder())
        let other = air.stage.with(air.port) { CBCentralManager(delegate: others, queue: others.recorder.queue) }
        await others.recorder.expect("state poweredOn")
        other.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        for _ in 0..<10 { await others.recorder.skip(to: "discovered") }
        #expect(await air.recorder.onQueue { air.recorder.all.count } == count)
        withExtendedLifetime(adapters) {}
    }

    @Test("Row 21: with the option for solicited services, advertisers that solicit them are also reported")
    func solicited() async throws {
        let air = await Air()
        let adapters = [
            try await air.advertise("other"),
            try await air.advertise("solicits") { $0.solicitedServiceUUIDs = ["1805"] },
            try await air.advertise("offers", ["180D"]),
        ]
        air.manager.scanForPeripherals(
            withServices: [CBUUID(string: "180D")],
            options: [CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [CBUUID(string: "1805")]])
        await until("both were reported") {
            let names = await air.recorder.onQueue { Set(air.events.peripherals.compactMap(\.name)) }
            #expect(!names.contains("other"))
            return names == ["solicits", "offers"]
        }
        withExtendedLifetime(adapters) {}
    }
}
