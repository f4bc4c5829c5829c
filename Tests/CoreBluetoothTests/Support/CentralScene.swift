import AdapterTestSupport
import BluetoothLE
import CoreBluetooth
import Testing
import VirtualRadio

/// A central manager, and a peripheral that is an adapter of `BluetoothLE`, on one radio.
struct CentralScene {
    let stage: Stage
    /// The manager's controller, and the peripheral's.
    let near, far: VirtualRadio.Port
    let peripheral: Adapter
    let service: PublishedService
    let events: CentralRecorder
    let manager: CBCentralManager

    static let serviceUUID: BluetoothUUID = "E07F0AE8-00BB-47F5-94F4-4A7174EA3032"
    static let serviceText = "\(serviceUUID)"
    static let service = CBUUID(string: serviceText)
    static let stored = "F001", dynamic = "F002", notified = "F003", indicated = "F004", both = "F005"

    static let definition = GATTServiceDefinition(
        uuid: serviceUUID,
        characteristics: [
            .init(
                uuid: "F001", properties: [.read, .write, .writeWithoutResponse], value: .variableLength([1, 2, 3]),
                descriptors: [
                    .userDescription("stored"),
                    .init(uuid: "2904", value: .constant([4, 0, 0xAD, 0x27, 1, 0, 0])),
                    .init(uuid: "F0D0", permissions: .init(read: .open, write: .open), value: .variableLength([9])),
                ]),
            .init(uuid: "F002", properties: [.read, .write], value: .dynamic),
            .init(uuid: "F003", properties: .notify, value: .dynamic),
            .init(uuid: "F004", properties: .indicate, value: .dynamic),
            .init(uuid: "F005", properties: [.notify, .indicate], value: .dynamic),
        ])

    var recorder: Recorder { events.recorder }

    init(
        time: VirtualRadio.Time = .system, mtu: UInt16 = 517, maximumConnections: Int = 16,
        options: [String: Any]? = nil, captureFile: String? = nil, storesFiles: Bool = false
    ) async throws {
        let stage = Stage(time: time, storesFiles: storesFiles)
        self.stage = stage
        let near = stage.radio.addController { $0.maximumConnections = maximumConnections }
        let far = stage.radio.addController()
        (self.near, self.far) = (near, far)
        (peripheral, service) = try await stage.passing {
            var options = AdapterOptions(seed: 2, captureFile: captureFile)
            options.host.preferredMTU = mtu
            options.host.deviceName = "Scene's device"
            let peripheral = try await Adapter.open(far, options: options)
            let service = try await peripheral.publish(Self.definition)
            try await peripheral.advertise(Self.advertisement)
            return (peripheral, service)
        }
        let events = CentralRecorder(Recorder("central"))
        self.events = events
        manager = stage.with(near) {
            CBCentralManager(delegate: events, queue: events.recorder.queue, options: options)
        }
    }

    static var advertisement: AdvertisementData {
        var advertisement = AdvertisementData()
        advertisement.localName = .complete("Scene")
        advertisement.serviceUUIDs = [definition.uuid]
        return advertisement
    }

    /// Another manager with the same adapter, which is on.
    func other() async -> (CBCentralManager, CentralRecorder) {
        let events = CentralRecorder(Recorder("other"))
        let manager = stage.with(near) { CBCentralManager(delegate: events, queue: events.recorder.queue) }
        await events.recorder.expect("state poweredOn")
        return (manager, events)
    }

    /// Waits until the manager is on.
    func on() async {
        await stage.passing { await recorder.expect("state poweredOn") }
    }

    /// Scans, and returns the peripheral, which the delegate keeps.
    func found() async throws -> CBPeripheral {
        await on()
        manager.scanForPeripherals(withServices: [Self.service])
        await stage.passing { _ = await recorder.skip(to: "discovered") }
        manager.stopScan()
        return try #require(await recorder.onQueue { events.peripherals.first })
    }

    /// Connects, and returns the peripheral.
    func connected(options: [String: Any]? = nil) async throws -> CBPeripheral {
        let peripheral = try await found()
        manager.connect(peripheral, options: options)
        await stage.passing { _ = await recorder.skip(to: "connected") }
        return peripheral
    }

    /// Connects, discovers all characteristics, and returns them by their UUIDs.
    func discovered(options: [String: Any]? = nil) async throws -> (CBPeripheral, [String: CBCharacteristic]) {
        let peripheral = try await connected(options: options)
        return (peripheral, try await discover(peripheral))
    }

    /// Discovers all characteristics of a peripheral that is connected.
    func discover(_ peripheral: CBPeripheral) async throws -> [String: CBCharacteristic] {
        peripheral.discoverServices([Self.service])
        await stage.passing { _ = await recorder.skip(to: "services -") }
        let service = try #require(peripheral.services?.first)
        peripheral.discoverCharacteristics(nil, for: service)
        await stage.passing { _ = await recorder.skip(to: "characteristics") }
        let characteristics = try #require(service.characteristics)
        return Dictionary(uniqueKeysWithValues: characteristics.map { ($0.uuid.uuidString, $0) })
    }

    /// Ends the peripheral's advertising. Until its controller has heard of that, it can be connected to.
    func silence() async {
        peripheral.stopAdvertising()
        await until("nobody advertises") { stage.radio.withAir { air, _ in !air[far.identifier].isAdvertising } }
    }

    /// A characteristic as the peripheral has it.
    func local(_ uuid: String) throws -> PublishedCharacteristic {
        let uuid = try #require(BluetoothUUID(uuid))
        return try #require(service[uuid])
    }
}

extension Stage {
    /// Lets time pass until `body` is done, where it does not pass by itself. That it takes more than the limit is a
    /// failure.
    func passing<Value, Failure: Error>(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard radio.time == .manual else { return try await body() }
        let end = radio.now.advanced(by: NotDone.limit)
        let clock = Task {
            while !Task.isCancelled, radio.now < end { await radio.advance(by: .milliseconds(20)) }
            if !Task.isCancelled { Issue.record(NotDone(), sourceLocation: sourceLocation) }
        }
        let result: Result<Value, Failure>
        do throws(Failure) { result = .success(try await body()) } catch { result = .failure(error) }
        // Time stands still again when this returns.
        clock.cancel()
        await clock.value
        return try result.get()
    }
}

/// Lets others go on until something is so, or the time limit of the test has passed.
func until(_ what: Comment, _ condition: () async throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation)
    async rethrows
{
    var round = 0
    while try await !condition() {
        guard !Task.isCancelled else {
            Issue.record(what, sourceLocation: sourceLocation)
            return
        }
        await giveWay(round)
        round += 1
    }
}
