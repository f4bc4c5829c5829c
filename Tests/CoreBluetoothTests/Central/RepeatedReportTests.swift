import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

@Suite("B: a device that keeps advertising", .timeLimit(.minutes(30)))
struct RepeatedReportTests {
    /// Keeps advertisements and no peripherals, but one that it is to connect to.
    final class Listener: NSObject, CBCentralManagerDelegate {
        let recorder = Recorder()
        var advertisements: [[String: Any]] = []
        var identifiers: Set<UUID> = []
        var keepsAdvertisements = true
        weak var found: CBPeripheral?
        var connected: CBPeripheral?

        func centralManagerDidUpdateState(_ central: CBCentralManager) { recorder.add("state \(central.state)") }

        func centralManager(
            _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
            rssi: NSNumber
        ) {
            if !keepsAdvertisements { advertisements = [] }
            advertisements.append(advertisementData)
            identifiers.insert(peripheral.identifier)
            found = peripheral
            recorder.add("discovered \(peripheral.name ?? "nil")")
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            recorder.add("connected")
        }

        /// The manufacturer data of each report, in order.
        var data: [Data?] { advertisements.map { $0[CBAdvertisementDataManufacturerDataKey] as? Data } }
    }

    struct Air {
        let stage = Stage()
        let listener = Listener()
        let controller: VirtualRadio.Port
        let manager: CBCentralManager
        let adapter: Adapter

        init() async throws {
            adapter = try await Adapter.open(stage.radio.addController())
            controller = stage.radio.addController()
            manager = stage.with(controller) { [listener] in
                CBCentralManager(delegate: listener, queue: listener.recorder.queue)
            }
            await listener.recorder.expect("state poweredOn")
        }

        func advertise(_ name: String, _ data: [UInt8]) async throws {
            var advertisement = AdvertisementData()
            advertisement.localName = .complete(name)
            advertisement.manufacturerData = [.init(companyID: 0xFFFF, data: data)]
            try await adapter.advertise(advertisement)
        }

        func scan(by manager: CBCentralManager? = nil) {
            (manager ?? self.manager).scanForPeripherals(
                withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        }

        /// Waits until manufacturer's data is told.
        func hear(_ data: [UInt8], by listener: Listener? = nil) async {
            let listener = listener ?? self.listener
            let expected = Data([0xFF, 0xFF] + data)
            await until("\(data) was told") {
                await listener.recorder.onQueue { listener.data.last == .some(expected) }
            }
        }
    }

    @Test("Each report has its own data, even if the application keeps all reports", arguments: [true, false])
    func changes(keepsAdvertisements: Bool) async throws {
        let air = try await Air()
        await air.listener.recorder.onQueue { air.listener.keepsAdvertisements = keepsAdvertisements }
        // As long as before, longer, and so short that it is kept in another way.
        let values: [[UInt8]] = [[1], [2], [3], Array(1...16), Array(2...17), Array(3...18), [1]]
        try await air.advertise("a", values[0])
        air.scan()
        for value in values {
            try await air.advertise("a", value)
            await air.hear(value)
        }
        try await air.advertise("b", values[6])
        await air.listener.recorder.skip(to: "discovered b")
        // At once, since further reports come all the time.
        let (all, advertisements, identifiers) = await air.listener.recorder.onQueue {
            (air.listener.data, air.listener.advertisements, air.listener.identifiers)
        }
        #expect(identifiers.count == 1)
        #expect(advertisements.last?[CBAdvertisementDataLocalNameKey] as? String == "b")
        guard keepsAdvertisements else { return }
        // What was kept is still as it was.
        var told: [Data] = []
        for case let data? in all where told.last != data { told.append(data) }
        #expect(told == values.map { Data([0xFF, 0xFF] + $0) })
        let times = advertisements.compactMap { $0["kCBAdvDataTimestamp"] as? Double }
        #expect(times.count == all.count && times == times.sorted() && Set(times).count > 1)
    }

    @Test("Several managers get each report with the same data, and what one of them has kept does not change")
    func severalManagers() async throws {
        let air = try await Air()
        let other = Listener()
        let manager = air.stage.with(air.controller) { CBCentralManager(delegate: other, queue: other.recorder.queue) }
        await other.recorder.expect("state poweredOn")
        await other.recorder.onQueue { other.keepsAdvertisements = false }
        let values: [[UInt8]] = [[1], Array(1...16), Array(2...17), Array(3...18)]
        try await air.advertise("a", values[0])
        air.scan()
        await air.hear(values[0])
        // The second scan joins the first one.
        air.scan(by: manager)
        await air.hear(values[0], by: other)
        for value in values.dropFirst() {
            try await air.advertise("a", value)
            await air.hear(value)
            await air.hear(value, by: other)
        }
        var told: [Data] = []
        for case let data? in await air.listener.recorder.onQueue({ air.listener.data }) where told.last != data {
            told.append(data)
        }
        #expect(told == values.map { Data([0xFF, 0xFF] + $0) })
        let found = await air.listener.recorder.onQueue { air.listener.found }
        let otherFound = await other.recorder.onQueue { other.found }
        #expect(found != nil && otherFound != nil && found !== otherFound)
        withExtendedLifetime(manager) {}
    }

    @Test("Stopping the scan releases a peripheral; releasing a connected one ends its link")
    func lifetime() async throws {
        let air = try await Air()
        try await air.advertise("a", [1])
        air.scan()
        await air.listener.recorder.skip(to: "discovered a")
        air.manager.stopScan()
        await until("the peripheral is gone") { await air.listener.recorder.onQueue { air.listener.found == nil } }
        air.scan()
        await until("it is found again") {
            await air.listener.recorder.onQueue {
                air.listener.connected = air.listener.found
                if let peripheral = air.listener.connected { air.manager.connect(peripheral) }
                return air.listener.connected != nil
            }
        }
        await air.listener.recorder.skip(to: "connected")
        await until("the link is there") { air.adapter.connections.count == 1 }
        // The scan goes on.
        await air.listener.recorder.onQueue { air.listener.connected = nil }
        await until("the link has ended") { air.adapter.connections.isEmpty }
    }
}
